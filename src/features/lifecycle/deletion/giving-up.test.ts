import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../../test/harness/own-engines.ts'
import { reserve, retire } from '../../../content/claims/claims.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { newId } from '../../../kernel/ids.ts'
import { capacityBytesDefault } from '../../../kernel/limits/transfers.ts'
import { giveUp } from './giving-up.ts'

forEachEngine((engine) => {
  describe('giving up', () => {
    const scene = async () => {
      const { database } = await openOwnEngines(engine)
      const nowMs = Date.now()
      const id = newId(Date.now())
      const claim = { id, repository: 'releases', holder: 'artifact', digest: null, bytes: 7 } as const
      await database.transaction(async (tx) => {
        await reserve(tx, claim, capacityBytesDefault)
        await retire(tx, id, timestamp(nowMs))
      })
      const q = database.reader
      return {
        database,
        id,
        again: () => database.transaction((tx) => giveUp(tx, id, { nowMs, cleanupGraceMs: 0 })),
        claims: async () => (await q.selectFrom('claims').select('state').where('id', '=', id).execute()).length,
        counted: async () =>
          (await q.selectFrom('repositories').select('retired_bytes').where('id', '=', 'releases').execute())[0]
            ?.retired_bytes,
      }
    }

    it('gives the room back once', async () => {
      const { again, claims, counted } = await scene()
      assert.equal(await counted(), 7)
      await again()
      assert.deepEqual([await claims(), await counted()], [0, 0])
      await again()
      assert.deepEqual([await claims(), await counted()], [0, 0])
    })

    it('leaves what is held by a kind of thing that this program does not know', async () => {
      const { database, id, again, claims, counted } = await scene()
      await database.transaction((tx) => sql`update claims set holder = 'later' where id = ${id}`.execute(tx))
      await assert.rejects(again(), {
        message: `the claim ${id} was held by a later, which this program does not know`,
      })
      assert.deepEqual([await claims(), await counted()], [1, 7])
    })
  })
})
