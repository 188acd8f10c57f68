import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { engineOf } from '../../../database/engine-of.ts'
import type { SearchEntriesTable } from '../../../database/tables/search-entries.ts'
import { idPosition } from '../../../kernel/id-position.ts'
import { upkeepBatch } from '../../../kernel/limits/upkeep.ts'
import {
  exactTokensOf,
  type Located,
  pathsText,
  type Searchable,
  searchText,
  tokensOf,
  whereTokensOf,
} from '../../../kernel/search-text.ts'
import { recordOf, stringsOf } from '../artifacts/views.ts'
import { type DescribedRow, describedAfter, describedFiles } from './entries.queries.ts'
import {
  dropTokenIndex,
  makeTokenIndex,
  type PostgresEntry,
  putPostgresEntries,
  putPostgresEntry,
} from './postgres.queries.ts'
import { putSqliteEntry, removeTokens, sharersOf, writeTokens } from './sqlite.queries.ts'

/**
 * What search knows of files: one entry for each published one, in the transaction of whatever changes it (I4). It
 * costs as much as the texts are long, however many files there are. Whoever writes one of a file that others see holds
 * the lock of its repository.
 */
export interface SearchableFile extends Searchable, Located {
  readonly id: string
}

/** A file as search sees it, by its name and what is said of it now. */
export const searchable = (row: DescribedRow): SearchableFile => ({
  id: row.id,
  repository: row.repository,
  name: row.name,
  sha256: row.sha256,
  paths: pathsText(stringsOf(row.paths)),
  labels: stringsOf(row.labels),
  metadata: recordOf(row.metadata),
  collections: stringsOf(row.collections ?? '[]'),
})

/** Makes a file known, or known anew. */
export const putEntry = async (tx: Transaction, file: SearchableFile): Promise<void> => {
  if (engineOf(tx) === 'postgres') return putPostgresEntry(tx, postgresEntry(file))
  const entry = entryOf(file)
  await putSqliteEntry(tx, entry)
  await writeTokens(tx, entry.position, await withSharers(tx, entry.position, file.id, tokensOfFile(file, entry.text)))
}

const entryOf = (file: SearchableFile): SearchEntriesTable => ({
  artifact_id: file.id,
  repository: file.repository,
  position: idPosition(file.id),
  text: searchText(file),
  paths: file.paths,
})

/** Everything that an index leads to the file by. */
export const tokensOfFile = (file: SearchableFile, text: string): Set<number> =>
  tokensOf(file, text).union(whereTokensOf(file))

/** Those of them that are no pieces of texts. */
export const exactTokensOfFile = (file: SearchableFile): Set<number> =>
  exactTokensOf(file).union(whereTokensOf({ ...file, paths: '' }))

const postgresEntry = (file: SearchableFile): PostgresEntry => {
  const entry = entryOf(file)
  return { ...entry, exact: exactTokensOfFile(file), tokens: tokensOfFile(file, entry.text) }
}

/** Makes a published file known by what the database says of it. */
export const refreshEntry = async (tx: Transaction, id: string): Promise<void> => {
  for (const row of await describedFiles(tx, [id])) await putEntry(tx, searchable(row))
}

/** Search knows the file no more. Its entry went with the row of the file; this takes what the index has of it. */
export const removeEntry = async (tx: Transaction, id: string): Promise<void> => {
  if (engineOf(tx) === 'postgres') return
  const position = idPosition(id)
  const left = await withSharers(tx, position, id, new Set())
  await (left.size > 0 ? writeTokens(tx, position, left) : removeTokens(tx, position))
}

/** The tokens together with those of other files that stand at the same position, which hardly ever happens. */
const withSharers = async (q: Queries, position: number, id: string, own: Set<number>): Promise<Set<number>> => {
  const sharers = await sharersOf(q, position, id)
  if (sharers.length === 0) return own
  const all = new Set(own)
  for (const row of await describedFiles(q, sharers)) {
    const file = searchable(row)
    for (const token of tokensOfFile(file, searchText(file))) all.add(token)
  }
  return all
}

/**
 * Makes every published file known to search, in transactions of bounded size. For a catalog that came from elsewhere,
 * while nobody uses it: PostgreSQL makes its index when all entries are there, which takes a fraction of the time.
 * After a crash the same call goes on.
 */
export const makeAllKnown = async (database: Database): Promise<void> => {
  const postgres = database.engine === 'postgres'
  if (postgres) await database.transaction(dropTokenIndex)
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    after = await database.transaction(async (tx) => {
      const rows = await describedAfter(tx, from, upkeepBatch)
      const unknown = rows.filter(({ text }) => text === null).map(searchable)
      if (postgres) await putPostgresEntries(tx, unknown.map(postgresEntry))
      else for (const file of unknown) await putEntry(tx, file)
      return rows.length < upkeepBatch ? undefined : rows.at(-1)?.id
    })
  }
  if (postgres) await database.transaction(makeTokenIndex)
}
