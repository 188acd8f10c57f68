import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { digestOf } from '../../../test/harness/inspection.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import { installation } from '../../database/moving/installation.queries.ts'
import { toSha256 } from '../../kernel/digest.ts'
import type { Engines } from '../../main/engines.ts'
import { blobName, newGeneration } from '../../ports/blob-name.ts'
import { unplanned } from '../../ports/blob-store.ts'
import { adoptStore, foreignOwner, refuseForeignStore } from './ownership.ts'

forEachEngine((engine) => {
  const open = (): Promise<Engines> => openOwnEngines(engine)
  const sha256 = toSha256(digestOf('some bytes'))
  const put = async ({ store }: Engines, generation: string): Promise<void> => {
    const place = await store.stage(randomUUID(), unplanned)
    await place.write(Buffer.from('some bytes'))
    await place.publish(blobName(sha256, generation))
  }
  const know = ({ database }: Engines, generation: string, inline: 0 | 1 = 0): Promise<unknown> =>
    database.transaction(async (tx) => {
      const blob = { sha256, size: 10, state: 'stored', stored_at: null, generation, inline } as const
      await tx.insertInto('blobs').values(blob).execute()
      const bytes = Buffer.from('some bytes')
      if (inline === 1) await tx.insertInto('inline_bytes').values({ generation, sha256, bytes }).execute()
    })

  describe('a store', () => {
    it('that is new is signed at the first start, and belongs to that database from then on', async () => {
      const engines = await open()
      await refuseForeignStore(engines, { readOnly: true })
      assert.equal(await engines.store.owner(), null)
      await refuseForeignStore(engines)
      assert.equal(await engines.store.owner(), (await installation(engines.database.reader)).identity)
      await put(engines, newGeneration())
      await refuseForeignStore(engines)
      assert.equal(await foreignOwner(engines), null)
    })

    it('that holds files beside an empty catalog is no first start, unless a person says so', async () => {
      const engines = await open()
      await put(engines, newGeneration())
      await assert.rejects(
        refuseForeignStore(engines),
        /The catalog is empty, and the blob store holds files.*adopt-store/,
      )
      assert.equal(await engines.store.owner(), null)
      await adoptStore(engines)
      await refuseForeignStore(engines)
    })

    it('of another installation is refused, by readers too, and named by the doctor', async () => {
      const [engines, other] = [await open(), await open()]
      // The databases of tests are copies of one.
      await engines.database.transaction((tx) => tx.updateTable('installation').set({ identity: 'mine' }).execute())
      await refuseForeignStore(other)
      const mixed = { database: engines.database, store: other.store }
      for (const readOnly of [false, true])
        await assert.rejects(refuseForeignStore(mixed, { readOnly }), /belongs to the installation .*wrong one/)
      assert.match((await foreignOwner(mixed)) ?? '', /belongs to the installation/)
    })

    it('from before there were signatures is signed where it holds what the catalog calls stored', async () => {
      const engines = await open()
      await know(engines, '')
      await assert.rejects(refuseForeignStore(engines), /holds none of the first 1 files/)
      await put(engines, '')
      await refuseForeignStore(engines)
      assert.notEqual(await engines.store.owner(), null)
    })

    it('of a catalog whose files are all in the database is signed where it is empty or holds one of them', async () => {
      for (const holds of [false, true]) {
        const engines = await open()
        const generation = newGeneration()
        await know(engines, generation, 1)
        if (holds) await put(engines, generation)
        await refuseForeignStore(engines)
        assert.notEqual(await engines.store.owner(), null)
      }
    })

    it('is not taken for the right one because of files that are in the database', async () => {
      const engines = await open()
      await know(engines, newGeneration(), 1)
      await put(engines, newGeneration())
      await assert.rejects(refuseForeignStore(engines), /the blob store holds files/)
      const other = await open()
      await know(other, newGeneration(), 1)
      const lost = { sha256: 'ab'.repeat(32), size: 10, state: 'stored', stored_at: null, generation: '' } as const
      await other.database.transaction((tx) => tx.insertInto('blobs').values(lost).execute())
      await assert.rejects(refuseForeignStore(other), /holds none of the first 1 files/)
    })
  })
})
