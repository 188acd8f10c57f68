import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { closeConnections } from '../../../test/harness/client.ts'
import { forEachEngine } from '../../../test/harness/engines.ts'
import {
  digestOf,
  forgetFile,
  type Inspection,
  inlineDigests,
  openInspection,
} from '../../../test/harness/inspection.ts'
import { inTheDatabase, inTheStore } from '../../../test/harness/kept-inline.ts'
import { startService, type TestService } from '../../../test/harness/service.ts'
import { toSha256 } from '../../kernel/digest.ts'
import type { FaultPoint } from '../../kernel/fault-points.ts'
import { newId } from '../../kernel/ids.ts'
import { capacityBytesDefault } from '../../kernel/limits/transfers.ts'
import { digestOfName } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { release, reserve, retire } from '../claims/claims.ts'
import { openStored } from '../claims/stored-names.ts'
import { withHold } from '../reclaim/holds.ts'
import { inlineSums } from './inline-sums.queries.ts'
import type { MovingDeps } from './moving.ts'
import { settle, settleSmallFiles } from './settling.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw/'
const most = 16 * 1024

forEachEngine((engine) => {
  for (const way of ['in', 'out'] as const)
    describe(`small files that move ${way}`, () => {
      let service: TestService
      let inspection: Inspection
      const files = new Map<string, Buffer>()
      beforeEach(async () => {
        // They begin where they do not belong.
        const settings = way === 'in' ? inTheStore : inTheDatabase
        service = await startService(engine, { settings, roles: { gateway: 'api', worker: false } })
        inspection = await openInspection(service)
        files.clear()
        for (const [name, bytes] of Object.entries({ empty: 0, small: 100, most })) files.set(name, randomBytes(bytes))
        for (const [name, body] of files) {
          const told = await service.ask({ method: 'PUT', path: raw + name, credential: service.recoveryKey, body })
          assert.equal(told.status, 201, told.text)
        }
      })
      afterEach(async () => {
        await inspection.close()
        await service.stop()
      })

      const move = async (more: Partial<MovingDeps> = {}): Promise<number> => {
        let moved = 0
        const wish = { inlineBytes: way === 'in' ? most : 0, ways: [way], filesPerSecond: 1e6 }
        for await (const batch of settle({ ...inspection, ...more }, wish, () => false)) {
          assert.deepEqual(batch.damaged, [])
          moved += batch.moved.files
        }
        return moved
      }
      const inStore = async (): Promise<string[]> =>
        (await Array.fromAsync(inspection.store.list())).map(({ name }) => digestOfName(name)).sort()
      const inDatabase = async (): Promise<string[]> => (await inlineDigests(inspection.database.reader)).sort()
      const all = (): string[] => [...files.values()].map(digestOf).sort()
      const [from, to] = way === 'in' ? [inStore, inDatabase] : [inDatabase, inStore]
      /** Not through the service, which has small files in its memory. */
      const areThere = async (): Promise<void> => {
        for (const [name, whole] of files) {
          const file = { digest: toSha256(digestOf(whole)), bytes: whole.byteLength }
          const pieces = await Array.fromAsync(await openStored(inspection, file, { start: 0, end: file.bytes }))
          assert.ok(Buffer.concat(pieces).equals(whole), name)
        }
      }
      /** Nothing is damaged, upkeep has nothing left to do, and all are in the one only. */
      const haveMoved = async (): Promise<void> => {
        await inspection.upkeep()
        await inspection.inOrder()
        await areThere()
        assert.deepEqual([await from(), await to()], [[], all()])
      }

      it('are served meanwhile, are in the one in the end, and move once', async () => {
        assert.deepEqual([await from(), await to()], [all(), []])
        assert.equal(await move(), files.size)
        await areThere()
        await haveMoved()
        assert.equal(await move(), 0)
      })

      for (const point of [way === 'in' ? 'inline.read' : 'inline.placed', 'inline.moved'] as const)
        it(`are whole in one of both when the process dies at ${point}, and the next one goes on`, async () => {
          const dying = (reached: FaultPoint): void => {
            if (reached === point) throw new Error('died')
          }
          await assert.rejects(move({ reach: dying }), /died/)
          await areThere()
          await inspection.inOrder()
          assert.equal(await move(), point === 'inline.moved' ? 0 : files.size)
          await haveMoved()
        })

      it('are passed over where they went, or were moved by somebody else, in between', async () => {
        let others = 0
        const slow: BlobStore = {
          ...inspection.store,
          async open(...asked) {
            const opened = await inspection.store.open(...asked)
            if (others === 0) others = await move()
            return opened
          },
          async stage(...asked) {
            if (others === 0) others = await move()
            return await inspection.store.stage(...asked)
          },
        }
        const moved = await move({ store: slow })
        assert.equal(moved + others, files.size)
        await haveMoved()
      })

      it('are counted', async () => {
        const { reader } = inspection.database
        assert.equal(await inlineSums(reader), null)
        await settleSmallFiles({ ...inspection, inlineBytes: way === 'in' ? most : 0 })
        const counted = way === 'in' ? { files: 3, bytes: most + 100 } : { files: 0, bytes: 0 }
        assert.deepEqual({ ...(await inlineSums(reader)) }, counted)
        await haveMoved()
      })

      for (const whole of [true, false])
        it(`go from both when they are given up ${whole ? 'later' : 'half way'}`, async () => {
          const dying = (): void => assert.fail('died')
          await (whole ? move() : assert.rejects(move({ reach: dying }), /died/))
          const ids = await inspection.database.reader.selectFrom('artifacts').select('id').orderBy('id').execute()
          for (const { id } of ids)
            await inspection.database.transaction(async (tx) => {
              const now = new Date(0).toISOString()
              for (const table of ['asset_revisions', 'assets'] as const)
                await tx.deleteFrom(table).where('artifact_id', '=', id).execute()
              await forgetFile(tx, id)
              await retire(tx, id, now)
              await release(tx, id, now)
            })
          await inspection.upkeep()
          await inspection.inOrder()
          assert.deepEqual([await inStore(), await inDatabase()], [[], []])
        })
    })

  describe('moving small files in', () => {
    let service: TestService
    let inspection: Inspection
    const body = randomBytes(100)
    const sha256 = toSha256(digestOf(body))
    beforeEach(async () => {
      service = await startService(engine, { settings: inTheStore, roles: { gateway: 'api', worker: false } })
      inspection = await openInspection(service)
      const told = await service.ask({ method: 'PUT', path: `${raw}one`, credential: service.recoveryKey, body })
      assert.equal(told.status, 201, told.text)
    })
    afterEach(async () => {
      await inspection.close()
      await service.stop()
    })
    const batches = () =>
      Array.fromAsync(settle(inspection, { inlineBytes: most, ways: ['in'], filesPerSecond: 1e6 }, () => false))
    const moved = async (): Promise<number> => (await batches()).reduce((sum, batch) => sum + batch.moved.files, 0)

    it('and out again, over and over, is not noticed by readers, writers of the same content, nor reclaim', async () => {
      let over = false
      const until = async (work: (time: number) => Promise<void>): Promise<void> => {
        for (let time = 0; !over; time++) {
          await work(time)
          await nextRound()
        }
      }
      const file = { digest: sha256, bytes: body.byteLength }
      const reading = until(async () => {
        const pieces = await Array.fromAsync(await openStored(inspection, file, { start: 0, end: file.bytes }))
        assert.ok(Buffer.concat(pieces).equals(body))
      })
      const writing = until(async (time) => {
        const path = `${raw}again-${time}`
        const told = await service.ask({ method: 'PUT', path, credential: service.recoveryKey, body })
        assert.equal(told.status, 201, told.text)
      })
      const reclaiming = until(() => inspection.upkeep())
      let moves = 0
      try {
        // While somebody writes the same, it waits for another time.
        for (let time = 0; moves < 6; time++) {
          const wish = { inlineBytes: time % 2 === 0 ? most : 0, ways: ['in', 'out'], filesPerSecond: 1e6 } as const
          for await (const batch of settle(inspection, wish, () => false)) moves += batch.moved.files
        }
      } finally {
        over = true
      }
      await Promise.all([reading, writing, reclaiming])
      await inspection.upkeep()
      await inspection.inOrder()
      assert.deepEqual(await inspection.stored(), [sha256])
    })

    it('is not noticed by whoever looked up the name before', async () => {
      let done = false
      const store: Pick<BlobStore, 'open'> = {
        async open(name, range, size) {
          if (!done) {
            done = true
            assert.equal(await moved(), 1)
            await inspection.upkeep()
            assert.equal(await inspection.store.size(name), null)
          }
          return await inspection.store.open(name, range, size)
        },
      }
      const file = { digest: sha256, bytes: body.byteLength }
      const pieces = await openStored({ database: inspection.database, store }, file, { start: 0, end: file.bytes })
      assert.ok(Buffer.concat(await Array.fromAsync(pieces)).equals(body))
      assert.equal(done, true)
    })

    it('leaves those alone that somebody announced, until they are done', async () => {
      const id = newId(0)
      const wanted = { id, repository: 'releases', holder: 'artifact', digest: sha256, bytes: 100 } as const
      const { database } = inspection
      await database.transaction((tx) => reserve(tx, wanted, capacityBytesDefault))
      assert.equal(await moved(), 0)
      await database.transaction((tx) => release(tx, id, new Date(0).toISOString()))
      assert.equal(await moved(), 1)
    })

    it('waits while reclaim is held back: an export reads by names', async () => {
      await withHold(inspection, 'test', async () => assert.equal(await moved(), 0))
      assert.equal(await moved(), 1)
    })

    it('leaves what has rotted where it is, and names it', async () => {
      const name = await inspection.nameOf(sha256)
      const staged = await inspection.store.stage(newId(1), { name, bytes: 100 })
      await staged.write(Buffer.alloc(100))
      await staged.publish(name)
      await staged.discard()
      const [batch = assert.fail()] = await batches()
      assert.equal(batch.moved.files, 0)
      const [{ digest, finding } = assert.fail()] = batch.damaged
      assert.equal(digest, sha256)
      assert.match(finding, /^its content has the SHA-256/)
    })
  })
})
