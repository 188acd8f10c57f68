import { adoptStore, foreignOwner } from '../../../content/claims/ownership.ts'
import type { Database } from '../../../database/database.ts'
import { installation, lockInstallation, updateInstallation } from '../../../database/moving/installation.queries.ts'
import { emptyTables, firstFilledTable, rebuildDerived } from '../../../database/moving/rows.queries.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { Finding } from '../../../kernel/finding.ts'
import { makeAllKnown } from '../../catalog/search/entries.ts'
import type { Progress } from './progress.ts'
import type { Restorable, StoringDeps } from './restorable.ts'
import { restoreBlobs } from './restore-blobs.ts'
import { restoreRows } from './restore-rows.ts'

export interface RestoreDeps extends StoringDeps {
  /** Everything that the doctor finds. */
  readonly findings: () => AsyncIterable<Finding>
}

type Phase = 'check' | 'files' | 'rows' | 'search' | 'doctor'

/** What a phase took, in seconds: with what a crash before left to be done. */
interface PhaseTook {
  readonly phase: Phase
  readonly seconds: number
}

export interface Restored {
  readonly rows: number
  readonly blobs: number
  readonly bytes: number
  /** How long it took, in its order. */
  readonly took: readonly PhaseTook[]
  /** What the doctor found. With damage the import is not finished. */
  readonly findings: readonly Finding[]
}

/**
 * Puts an export or a backup into an empty database, and its bytes into the store.
 *
 * Order: everything that can be known without writing is checked -> the database says that it is being imported into,
 * and no service runs on it -> bytes (I1) -> rows, each file in one transaction with the row that counts it -> the
 * rest that `settle` does -> the doctor -> the database says so no more. A crash leaves how far it was; the same
 * command goes on from there, and begins with the bytes once more where the doctor misses some.
 */
export const restore = async (
  from: Restorable,
  deps: RestoreDeps,
  progress: Progress,
  settle: () => Promise<void> = async () => {},
): Promise<Restored> => {
  const { database, reach } = deps
  const { withBytes, counted } = from
  const took: PhaseTook[] = []
  const during = async <T>(phase: Phase, work: () => Promise<T>): Promise<T> => {
    const beganMs = performance.now()
    const done = await work()
    took.push({ phase, seconds: (performance.now() - beganMs) / 1000 })
    return done
  }
  const begun = await refuseUnlessOurs(database, from)
  const strange = withBytes ? await foreignOwner(deps) : null
  if (strange !== null)
    throw new Failure('already_exists', `${strange} ${namedFirst(from)} with its bytes goes into a store of its own.`)
  if (!begun) await during('check', () => from.check(deps, progress))
  await begin(database, from)
  reach('import.begun')
  if (withBytes) await during('files', () => restoreBlobs(from, deps, progress))
  await during('rows', () => restoreRows(from, deps, progress))
  await settle()
  await during('search', () => makeAllKnown(database))
  await database.transaction((tx) => rebuildDerived(tx, database.engine))
  reach('import.rows')
  // Bytes that were left out may be those of the source: from now on the store belongs to this database.
  await adoptStore(deps)
  const examine = (): Promise<Finding[]> => during('doctor', () => Array.fromAsync(deps.findings()))
  let findings = await examine()
  if (begun && withBytes && isDamaged(findings)) {
    // What was copied before this try may be gone since: its disk may have been replaced.
    await database.transaction((tx) => updateInstallation(tx, { imported_through: '' }))
    await restoreBlobs(from, deps, progress)
    findings = await examine()
  }
  if (!isDamaged(findings)) await database.transaction((tx) => updateInstallation(tx, { importing: null }))
  const rows = from.tables.reduce((sum, table) => sum + table.rows, 0)
  return { rows, blobs: counted.count, bytes: counted.bytes, took, findings }
}

const isDamaged = (findings: readonly Finding[]): boolean => findings.some(({ kind }) => kind === 'damage')

const namesOf = ({ tables }: Restorable) => tables.map(({ name }) => name)

const namedFirst = ({ kind }: Restorable): string => (kind === 'export' ? 'An export' : 'A backup')

/** Whether this very import was begun before. Throws when the database has something else in it. */
const refuseUnlessOurs = async (database: Database, from: Restorable): Promise<boolean> => {
  const { importing } = await installation(database.reader)
  if (importing === from.digest) return true
  await database.snapshot((q) => refuseUnlessEmpty(importing, from, () => firstFilledTable(q, namesOf(from))))
  return false
}

const refuseUnlessEmpty = async (
  importing: string | null,
  from: Restorable,
  filled: () => Promise<string | null>,
): Promise<void> => {
  if (importing !== null)
    throw new Failure(
      'already_exists',
      from.kind === 'export'
        ? 'The import of another export or of an older state of this one is not finished in this database. Go on with that one; where it is no more, such as after svc export --refresh, begin with a new database (SVC_DATABASE_URL). The store may stay: what it has is not copied again.'
        : 'Another point, or an export, is being put into this database and is not finished. Go on with that one, or begin with a new database (SVC_DATABASE_URL). The store may stay: what it has is not copied again.',
    )
  const table = await filled()
  if (table !== null)
    throw new Failure(
      'already_exists',
      `The database is not empty: there is something in ${table}. ${namedFirst(from)} goes only into a new database; set SVC_DATABASE_URL to one.`,
    )
}

/** Says in the database that it is being imported into, and takes out what a first start made. */
const begin = (database: Database, from: Restorable): Promise<void> =>
  database.transaction(async (tx) => {
    const { importing } = await lockInstallation(tx)
    if (importing === from.digest) return
    await refuseUnlessEmpty(importing, from, () => firstFilledTable(tx, namesOf(from)))
    await emptyTables(tx, namesOf(from))
    await updateInstallation(tx, { importing: from.digest, imported_through: '', imported_pieces: 0 })
  })
