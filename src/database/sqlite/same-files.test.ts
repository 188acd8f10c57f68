import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { migrate } from '../migrate.ts'
import { failOnReport, notesSchema } from '../notes.suite.ts'
import { openDatabase } from '../open.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

const opened = async (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
  const path = join(folder, 'svc.db')
  const database = await openDatabase({ url: `sqlite:${path}`, report: failOnReport })
  t.after(async () => {
    await database[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  await migrate(database, notesSchema)
  await database.probe()
  return { path, database }
}

for (const file of ['', '-wal'])
  it(`a database whose file svc.db${file} was removed, or replaced, is not ready until the same one is back`, async (t) => {
    const { path, database } = await opened(t)
    const aside = `${path}${file}.aside`
    renameSync(`${path}${file}`, aside)
    await assert.rejects(database.probe(), DatabaseUnavailable)
    writeFileSync(`${path}${file}`, 'another')
    await assert.rejects(database.probe(), /was replaced/)
    renameSync(aside, `${path}${file}`)
    await database.probe()
  })
