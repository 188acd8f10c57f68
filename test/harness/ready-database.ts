import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../src/database/migrate.ts'
import { migrations } from '../../src/database/migrations/index.ts'
import { openDatabase } from '../../src/database/open.ts'
import type { PostgresDatabases } from './postgres.ts'

/*
 * Databases that have seen every migration already. Most tests need one each, and making the schema takes longer than
 * most tests: a fifth of a second on PostgreSQL. So it is made once, and copied. Tests of migrations take an empty one.
 */

/** Brings the schema of a new database up to date. */
const prepare = async (url: string): Promise<void> => {
  const report = (message: string, error: unknown): void => console.error(message, error)
  const database = await openDatabase({ url, report })
  await migrate(database, migrations)
  await database[Symbol.asyncDispose]()
}

/** Makes a database that others can be copied from; answers its address. Nobody may be connected to it meanwhile. */
export const preparePostgres = async (databases: PostgresDatabases): Promise<string> => {
  const url = await databases.createDatabase()
  await prepare(url)
  return url
}

let sqlite: Promise<string> | undefined

/** Copies a database with today's schema to where none is yet. */
export const copyReadySqlite = async (path: string): Promise<void> => {
  sqlite ??= prepareSqlite()
  await copyFile(await sqlite, path)
}

const prepareSqlite = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-ready-'))
  const path = join(folder, 'svc.db')
  await prepare(`sqlite:${path}`)
  return path
}

/** Removes what this process made to copy from. */
export const forgetReadySqlite = async (): Promise<void> => {
  const path = await sqlite
  sqlite = undefined
  if (path !== undefined) await rm(join(path, '..'), { recursive: true, force: true })
}
