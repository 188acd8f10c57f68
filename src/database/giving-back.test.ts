import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { it } from 'node:test'
import { onSqlite } from '../../test/harness/engines.ts'
import { openOwnEngines } from '../../test/harness/own-engines.ts'
import { until } from '../../test/harness/until.ts'
import { databaseFreeBytesKept } from '../kernel/limits/engines.ts'
import { MiB } from '../kernel/units.ts'
import { giveBackRoom } from './giving-back.ts'
import { databaseSize } from './size.queries.ts'

onSqlite((engine) => {
  it('a file of a database shrinks while it is used, when rows went, and keeps some room for those that come', async () => {
    const { database, settings } = await openOwnEngines(engine)
    const path = settings.databaseUrl.slice('sqlite:'.length)
    const bytes = randomBytes(64 * 1024)
    const insert = (count: number): Promise<void> =>
      database.transaction(async (tx) => {
        const row = () => ({ generation: randomUUID(), sha256: 'x', bytes })
        for (let at = 0; at < count; at++) await tx.insertInto('inline_bytes').values(row()).execute()
      })
    const files = (2 * databaseFreeBytesKept) / bytes.byteLength
    await insert(files)
    const before = await databaseSize(database)
    assert.ok(before.bytes > 2 * databaseFreeBytesKept)
    await giveBackRoom({ database })
    assert.deepEqual(await databaseSize(database), before)

    await database.transaction(async (tx) => {
      await tx.deleteFrom('inline_bytes').execute()
    })
    const giving = giveBackRoom({ database })
    await insert(1)
    await giving
    const after = await databaseSize(database)
    assert.ok(after.bytes < before.bytes - databaseFreeBytesKept + 2 * MiB, `${before.bytes} became ${after.bytes}`)
    assert.ok((after.freeBytes ?? 0) > databaseFreeBytesKept - 2 * MiB)
    await until('the file is as short', async () => (await stat(path)).size <= after.bytes + MiB)
  })
})
