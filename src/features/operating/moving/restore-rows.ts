import type { Database, Transaction } from '../../../database/database.ts'
import { installation, lockInstallation, updateInstallation } from '../../../database/moving/installation.queries.ts'
import { insertRows } from '../../../database/moving/rows.queries.ts'
import type { InstallationTable } from '../../../database/tables/installation.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import type { Progress } from './progress.ts'
import type { Restorable } from './restorable.ts'

interface RowDeps {
  readonly database: Database
  readonly reach: ReachFaultPoint
}

/** Each file of rows in one transaction, which counts it: it is there once, whoever dies when. */
export const restoreRows = async (
  from: Restorable,
  { database, reach }: RowDeps,
  progress: Progress,
): Promise<void> => {
  const done = (await installation(database.reader)).imported_pieces
  const files = from.tables.flatMap((table) => table.pieces.map((_, piece) => ({ table, piece })))
  for (const [index, { table, piece }] of files.entries()) {
    if (index < done) continue
    const rows = await from.rowsOf(table, piece)
    await database.transaction(async (tx) => {
      if ((await stillOurs(tx, from)).imported_pieces !== index)
        throw new Failure('already_exists', `Another ${commandOf(from)} is at work in this database.`)
      await insertRows(tx, table.name, table.columns, rows)
      await updateInstallation(tx, { imported_pieces: index + 1 })
    })
    reach('import.piece')
    progress.tell(() => `${index + 1} of ${files.length} files of rows imported`)
  }
}

/** Locks what says how far the import is. Throws when that is not about this one any more. */
export const stillOurs = async (
  tx: Transaction,
  from: Pick<Restorable, 'digest' | 'kind'>,
): Promise<InstallationTable> => {
  const row = await lockInstallation(tx)
  if (row.importing === from.digest) return row
  throw new Failure('already_exists', `Another ${commandOf(from)} has meanwhile ended this one.`)
}

/** Which command puts it into a database. */
const commandOf = ({ kind }: Pick<Restorable, 'kind'>): string => (kind === 'export' ? 'svc import' : 'svc restore')
