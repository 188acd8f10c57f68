import { lookInto } from '../../../content/checks/stored-bytes.ts'
import { lockLive } from '../../../content/claims/claims.ts'
import { openStored } from '../../../content/claims/stored-names.ts'
import type { ServeDeps } from '../../../content/serve/serve.ts'
import type { Database } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import type { PackagesTable } from '../../../database/tables/packages.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { notFound } from '../../../kernel/failure.ts'
import { caseless } from '../../../kernel/names.ts'
import { publishedArtifact } from '../artifacts/artifacts.ts'
import { readManifest } from './archive.ts'
import type { ArchiveGate } from './archive-gate.ts'
import { type Manifest, parseManifest } from './manifest.ts'
import { findPackageOf, insertPackage } from './packages.queries.ts'
import { deriveStages } from './stages.queries.ts'
import { versionKey } from './version-order.ts'
import { takeVersion } from './versions.ts'

export interface RegistrationDeps extends ServeDeps {
  readonly database: Database
  readonly clock: Clock
  readonly archiveGate: ArchiveGate
}

/**
 * Makes a published file a package version: that which the `upack.json` in it names. Harmless for a file that is one
 * already: its bytes never change, and so they are not read again. 400 where the file is no package; 409
 * `version_exists` where another file is this version.
 */
export const registerPackage = async (
  deps: RegistrationDeps,
  repository: string,
  id: string,
  actor: string,
): Promise<PackagesTable> => {
  const { reader } = deps.database
  const artifact = await publishedArtifact(reader, repository, id)
  const known = await findPackageOf(reader, id)
  if (known !== undefined) return known
  const file = { digest: toSha256(artifact.sha256), bytes: artifact.size }
  const manifest = await deps.archiveGate(async () =>
    parseManifest(await readManifest(lookInto(file.bytes, (range) => openStored(deps, file, range)))),
  )
  return deps.database.transaction(async (tx) => {
    const now = timestamp(deps.clock.now())
    // First the claim, then the repository: the order in which a deletion takes them. Whoever promotes another file to
    // this one, and makes it a package, holds the second alone.
    if (!(await lockLive(tx, id))) throw notFound('artifact')
    await lockRepository(tx, repository)
    const row = packageRow(artifact, manifest, now)
    const meanwhile = await findPackageOf(tx, id)
    if (meanwhile !== undefined) return meanwhile
    await takeVersion(tx, row)
    await insertPackage(tx, row)
    await deriveStages(tx, id)
    await appendJournal(tx, {
      repository,
      action: 'package.register',
      artifactId: id,
      detail: null,
      actor,
      occurredAt: now,
    })
    return row
  })
}

/** The version that a manifest makes of a published file. */
export const packageRow = (
  { repository, id, published_at }: Pick<ArtifactsTable, 'repository' | 'id' | 'published_at'>,
  { group, name, version, parsed, value }: Manifest,
  now: string,
): PackagesTable => {
  const manifest = JSON.stringify(value)
  return {
    artifact_id: id,
    repository,
    group_name: group,
    group_key: caseless(group),
    name,
    name_key: caseless(name),
    version,
    version_key: versionKey(parsed),
    prerelease: parsed.prerelease.length > 0 ? 1 : 0,
    registered_at: now,
    published_at,
    manifest_bytes: Buffer.byteLength(manifest),
    manifest,
  }
}
