import { adoptStore, foreignOwner } from '../../../content/claims/ownership.ts'
import type { Database } from '../../../database/database.ts'
import { installation, lockInstallation, updateInstallation } from '../../../database/moving/installation.queries.ts'
import { emptyTables, firstFilledTable, rebuildDerived } from '../../../database/moving/rows.queries.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { Finding } from '../../../kernel/finding.ts'
import type { Vault } from '../../../ports/vault.ts'
import { makeAllKnown } from '../../catalog/search/entries.ts'
import { claimToRestore } from './claiming.ts'
import type { Manifest } from './manifest.ts'
import { type OpenedExport, openExport } from './opened.ts'
import type { Progress } from './progress.ts'
import { restoreBlobs, type StoringDeps } from './restore-blobs.ts'
import { checkExport } from './restore-checks.ts'
import { restoreRows } from './restore-rows.ts'

export interface RestoreDeps extends StoringDeps {
  readonly vault: Vault
  /** Everything that the doctor finds. */
  readonly findings: () => AsyncIterable<Finding>
}

export interface Restored {
  readonly rows: number
  readonly blobs: number
  readonly bytes: number
  /** What the doctor found. With damage the import is not finished. */
  readonly findings: readonly Finding[]
}

/**
 * Puts an export into an empty database, and its bytes into the store.
 *
 * Order: everything that can be known without writing is checked -> the database says that it is being imported into,
 * and no service runs on it -> bytes (I1) -> rows, each file in one transaction with the row that counts it -> the
 * doctor -> the database says so no more. A crash leaves how far it was; the same command goes on from there.
 */
export const restore = async (deps: RestoreDeps, progress: Progress): Promise<Restored> => {
  const claim = await claimToRestore(deps.vault)
  try {
    return await restoreFrom(await openExport(deps.vault, deps.database), deps, progress)
  } finally {
    await claim[Symbol.asyncDispose]()
  }
}

const restoreFrom = async (opened: OpenedExport, deps: RestoreDeps, progress: Progress): Promise<Restored> => {
  const { database, reach } = deps
  const { manifest, withBytes } = opened
  const begun = await refuseUnlessOurs(database, manifest)
  const strange = withBytes ? await foreignOwner(deps) : null
  if (strange !== null)
    throw new Failure('already_exists', `${strange} An export with its bytes goes into a store of its own.`)
  if (!begun) await checkExport(opened, deps, progress)
  await begin(database, manifest)
  reach('import.begun')
  if (withBytes) await restoreBlobs(opened, deps, progress)
  await restoreRows(opened, deps, progress)
  await makeAllKnown(database)
  await database.transaction((tx) => rebuildDerived(tx, database.engine))
  reach('import.rows')
  // Bytes that were left out may be those of the source: from now on the store belongs to this database.
  await adoptStore(deps)
  const findings = await Array.fromAsync(deps.findings())
  if (!findings.some(({ kind }) => kind === 'damage'))
    await database.transaction((tx) => updateInstallation(tx, { importing: null }))
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  return { rows, blobs: manifest.blobs.count, bytes: manifest.blobs.bytes, findings }
}

/** Whether this very import was begun before. Throws when the database has something else in it. */
const refuseUnlessOurs = async (database: Database, manifest: Manifest): Promise<boolean> => {
  const { importing } = await installation(database.reader)
  if (importing === manifest.digest) return true
  await database.snapshot((q) => refuseUnlessEmpty(importing, () => firstFilledTable(q)))
  return false
}

const refuseUnlessEmpty = async (importing: string | null, filled: () => Promise<string | null>): Promise<void> => {
  if (importing !== null)
    throw new Failure(
      'already_exists',
      'The import of another export or of an older state of this one is not finished in this database. Go on with that one; where it is no more, such as after svc export --refresh, begin with a new database (SVC_DATABASE_URL). The store may stay: what it has is not copied again.',
    )
  const table = await filled()
  if (table !== null)
    throw new Failure(
      'already_exists',
      `The database is not empty: there is something in ${table}. An export goes only into a new database; set SVC_DATABASE_URL to one.`,
    )
}

/** Says in the database that it is being imported into, and takes out what a first start made. */
const begin = (database: Database, manifest: Manifest): Promise<void> =>
  database.transaction(async (tx) => {
    const { importing } = await lockInstallation(tx)
    if (importing === manifest.digest) return
    await refuseUnlessEmpty(importing, () => firstFilledTable(tx))
    await emptyTables(tx)
    await updateInstallation(tx, { importing: manifest.digest, imported_through: '', imported_pieces: 0 })
  })
