import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { digestOf } from '../../../test/harness/backstage.ts'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { openOwnParts } from '../../../test/harness/own-parts.ts'
import { installation } from '../../database/moving/installation.queries.ts'
import { toSha256 } from '../../kernel/digest.ts'
import type { Parts } from '../../main/parts.ts'
import { blobName, newGeneration } from '../../ports/blob-name.ts'
import { unplanned } from '../../ports/blob-store.ts'
import { adoptStore, foreignOwner, refuseForeignStore } from './ownership.ts'

forEachEngine((engine) => {
  const open = (): Promise<Parts> => openOwnParts(engine)
  const sha256 = toSha256(digestOf('some bytes'))
  const put = async ({ store }: Parts, generation: string): Promise<void> => {
    const place = await store.stage(randomUUID(), unplanned)
    await place.write(Buffer.from('some bytes'))
    await place.publish(blobName(sha256, generation))
  }
  const know = ({ database }: Parts, generation: string): Promise<unknown> =>
    database.transaction((tx) =>
      tx.insertInto('blobs').values({ sha256, size: 10, state: 'stored', stored_at: null, generation }).execute(),
    )

  describe('a store', () => {
    it('that is new is signed at the first start, and belongs to that database from then on', async () => {
      const parts = await open()
      await refuseForeignStore(parts, { readOnly: true })
      assert.equal(await parts.store.owner(), null)
      await refuseForeignStore(parts)
      assert.equal(await parts.store.owner(), (await installation(parts.database.reader)).identity)
      await put(parts, newGeneration())
      await refuseForeignStore(parts)
      assert.equal(await foreignOwner(parts), null)
    })

    it('that holds files beside an empty catalog is no first start, unless a person says so', async () => {
      const parts = await open()
      await put(parts, newGeneration())
      await assert.rejects(
        refuseForeignStore(parts),
        /The catalog is empty, and the blob store holds files.*adopt-store/,
      )
      assert.equal(await parts.store.owner(), null)
      await adoptStore(parts)
      await refuseForeignStore(parts)
    })

    it('of another installation is refused, by readers too, and named by the doctor', async () => {
      const [parts, other] = [await open(), await open()]
      // The databases of tests are copies of one.
      await parts.database.transaction((tx) => tx.updateTable('installation').set({ identity: 'mine' }).execute())
      await refuseForeignStore(other)
      const mixed = { database: parts.database, store: other.store }
      for (const readOnly of [false, true])
        await assert.rejects(refuseForeignStore(mixed, { readOnly }), /belongs to the installation .*wrong one/)
      assert.match((await foreignOwner(mixed)) ?? '', /belongs to the installation/)
    })

    it('from before there were signatures is signed where it holds what the catalog calls stored', async () => {
      const parts = await open()
      await know(parts, '')
      await assert.rejects(refuseForeignStore(parts), /holds none of the first 1 files/)
      await put(parts, '')
      await refuseForeignStore(parts)
      assert.notEqual(await parts.store.owner(), null)
    })
  })
})
