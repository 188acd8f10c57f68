import assert from 'node:assert/strict'
import { refreshEntry } from '../../src/features/catalog/search/entries.ts'
import type { Told } from './client.ts'
import { newFile, publish } from './publishing.ts'
import { inDatabase } from './rows.ts'
import type { Answering, TestService } from './service.ts'
import { type TestManifest, upack, type ZipEntry } from './zip.ts'

export const registrationOf = (repository: string, id: string): string =>
  `/api/v1/repositories/${repository}/artifacts/${id}/package`

export const register = (service: Answering, credential: string, repository: string, id: string): Promise<Told> =>
  service.ask({ method: 'POST', path: registrationOf(repository, id), credential })

let files = 0

/** Publishes a file that is a package, without registering it. */
export const publishPackage = (
  service: Answering,
  credential: string,
  repository: string,
  manifest: TestManifest,
  // Otherwise equal manifests would be equal bytes.
  more: readonly ZipEntry[] = [{ name: 'package/number.txt', content: String(++files) }],
): Promise<string> => publish(service, credential, repository, newFile(`${manifest.name}.upack`, upack(manifest, more)))

/** Publishes a package and registers it; answers the artifact's id. */
export const addPackage = async (
  service: Answering,
  credential: string,
  repository: string,
  manifest: TestManifest,
): Promise<string> => {
  const id = await publishPackage(service, credential, repository, manifest)
  const told = await register(service, credential, repository, id)
  assert.equal(told.status, 200, told.text)
  return id
}

const manifestOf = (value: object) => {
  const manifest = JSON.stringify(value)
  return { manifest, manifest_bytes: Buffer.byteLength(manifest) }
}

/**
 * Package versions without files worth the name: thousands in a moment, all of the same bytes. Search knows of a few
 * hundred, since more would take their time.
 */
export const fillPackages = (
  service: TestService,
  like: string,
  rows: readonly {
    readonly id: string
    readonly group?: string
    readonly name: string
    readonly version: string
    readonly version_key: string
    readonly prerelease: 0 | 1
    readonly published_at?: string
  }[],
): Promise<void> =>
  inDatabase(service, async (q) => {
    const artifact = await q.selectFrom('artifacts').selectAll().where('id', '=', like).executeTakeFirstOrThrow()
    const claim = await q.selectFrom('claims').selectAll().where('id', '=', like).executeTakeFirstOrThrow()
    for (let at = 0; at < rows.length; at += 500) {
      const some = rows.slice(at, at + 500)
      await q
        .insertInto('claims')
        .values(some.map(({ id }) => ({ ...claim, id })))
        .execute()
      await q
        .insertInto('artifacts')
        .values(some.map(({ id, published_at = artifact.published_at }) => ({ ...artifact, id, published_at })))
        .execute()
      await q
        .insertInto('packages')
        .values(
          some.map(
            ({ id, group = '', name, version, version_key, prerelease, published_at = artifact.published_at }) => ({
              artifact_id: id,
              repository: artifact.repository,
              group_name: group,
              group_key: group.toLowerCase(),
              name,
              name_key: name.toLowerCase(),
              version,
              version_key,
              prerelease,
              registered_at: published_at,
              published_at,
              ...manifestOf({ ...(group === '' ? {} : { group }), name, version }),
            }),
          ),
        )
        .execute()
    }
    if (rows.length <= 500) for (const { id } of rows) await refreshEntry(q, id)
    // Each of them claims the bytes of the first.
    const bytes = rows.length * artifact.size
    await q
      .updateTable('repositories')
      .set((eb) => ({ published_bytes: eb('published_bytes', '+', bytes) }))
      .where('id', '=', artifact.repository)
      .execute()
    await q
      .updateTable('counters')
      .set((eb) => ({ value: eb('value', '+', bytes) }))
      .where('name', '=', 'reserved_bytes')
      .execute()
  })
