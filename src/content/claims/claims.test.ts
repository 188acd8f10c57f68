import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { digestOf } from '../../../test/harness/inspection.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import { timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { newId } from '../../kernel/ids.ts'
import { capacityBytesDefault } from '../../kernel/limits/transfers.ts'
import { publish, reserve } from './claims.ts'

forEachEngine((engine) => {
  describe('publishing a claim', () => {
    it('never changes the size of a blob that is stored', async () => {
      const { database } = await openOwnEngines(engine)
      const digest = toSha256(digestOf('ten bytes!'))
      const published = (bytes: number): Promise<void> =>
        database.transaction(async (tx) => {
          const id = newId(Date.now())
          const wanted = { id, repository: 'releases', holder: 'artifact', digest, bytes } as const
          const name = await reserve(tx, wanted, capacityBytesDefault)
          assert.ok(name !== null)
          await publish(tx, id, { name, bytes }, timestamp(Date.now()))
        })
      const sizes = () => database.reader.selectFrom('blobs').select(['size', 'state']).execute()
      await published(10)
      await published(10)
      await assert.rejects(published(7), /is stored with other than 7 bytes/)
      assert.deepEqual(await sizes(), [{ size: 10, state: 'stored' }])
    })
  })
})
