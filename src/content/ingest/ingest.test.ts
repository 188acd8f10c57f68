import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import type { Database } from '../../database/database.ts'
import { timestamp } from '../../kernel/clock.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import {
  capacityBytesDefault,
  hashedHereBytesMax,
  objectBytesMax,
  roomLookEveryBytes,
} from '../../kernel/limits/transfers.ts'
import type { Engines } from '../../main/engines.ts'
import { digestOfName } from '../../ports/blob-name.ts'
import { type BlobStore, type StagedBlob, unplanned } from '../../ports/blob-store.ts'
import { checkContent } from '../checks/checks.ts'
import { release, reserve } from '../claims/claims.ts'
import { type RoomDeps, roomOf } from '../claims/room.ts'
import { reclaim } from '../reclaim/reclaim.ts'
import { type IngestDeps, ingest, type Transfer } from './ingest.ts'

const digestOf = (bytes: Uint8Array): Sha256 => toSha256(createHash('sha256').update(bytes).digest('hex'))

/** Tells what is done to a store, in order, and may fail in place of a step. */
const watchStore = (store: BlobStore, events: string[], failAt?: string): BlobStore => {
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (name === failAt) throw new Error(`no ${name}`)
    events.push(name)
    return work()
  }
  const watchStaged = (staged: StagedBlob): StagedBlob => ({
    write: (piece) => step('write', () => staged.write(piece)),
    publish: (name) => step('publish', () => staged.publish(name)),
    discard: () => step('discard', () => staged.discard()),
  })
  return { ...store, stage: (id, plan) => step('stage', async () => watchStaged(await store.stage(id, plan))) }
}

const watchDatabase = (database: Database, events: string[]): Database => ({
  engine: database.engine,
  reader: database.reader,
  get patient() {
    return this
  },
  transaction: async (work, options) => {
    const result = await database.transaction(work, options)
    events.push('commit')
    return result
  },
  snapshot: (work) => database.snapshot(work),
  listen: (listener) => database.listen(listener),
  settled: () => database.settled(),
  probe: () => database.probe(),
  [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
})

type TakingDeps = IngestDeps & RoomDeps
type Reserved = Omit<Transfer, 'room'> & { readonly claimId: string }

/** Takes in what was reserved for. */
const take = async (
  deps: TakingDeps,
  { claimId, ...transfer }: Reserved,
  finish: Parameters<typeof ingest<void>>[2],
): Promise<void> => ingest(deps, { ...transfer, room: await roomOf(deps, claimId) }, finish)

forEachEngine((engine) => {
  const open = (): Promise<Engines> => openOwnEngines(engine)

  const ingestDeps = (engines: Engines, more: Partial<TakingDeps> = {}): TakingDeps => ({
    ...engines,
    capacityBytes: capacityBytesDefault,
    ...more,
  })

  /** Reserves for the bytes as a door does, and describes their transfer. */
  const reserved = async ({ database }: Engines, bytes: Buffer, declared: boolean): Promise<Reserved> => {
    const id = newId(Date.now())
    const digest = declared ? digestOf(bytes) : null
    const claim = {
      id,
      repository: 'releases',
      holder: 'artifact',
      digest,
      bytes: declared ? bytes.byteLength : 0,
    } as const
    await database.transaction((tx) => reserve(tx, claim, capacityBytesDefault))
    return {
      claimId: id,
      stagingId: newId(Date.now()),
      pieces: (async function* () {
        yield bytes.subarray(0, 10)
        yield bytes.subarray(10)
      })(),
      expected: { bytes: declared ? bytes.byteLength : null, digest },
      maxBytes: objectBytesMax,
    }
  }

  const staged = async ({ store }: Engines): Promise<number> => (await Array.fromAsync(store.listStaged())).length
  const stored = async ({ store }: Engines): Promise<string[]> =>
    (await Array.fromAsync(store.list())).map(({ name }) => digestOfName(name))
  const findings = async (engines: Engines): Promise<string[]> =>
    (await Array.fromAsync(checkContent(engines))).map(({ text }) => text)
  const now = (): string => timestamp(Date.now())

  /** Gives the reservation back and lets upkeep look: then nothing may be left, not even in the counters. */
  const leavesNothing = async (engines: Engines, claimId: string): Promise<void> => {
    assert.equal(await staged(engines), 0)
    await engines.database.transaction((tx) => release(tx, claimId, now()))
    await reclaim(engines)
    assert.deepEqual(await stored(engines), [])
    assert.deepEqual(await findings(engines), [])
    const counters = engines.database.reader.selectFrom('counters').select('value').where('name', '=', 'reserved_bytes')
    assert.equal((await counters.executeTakeFirstOrThrow()).value, 0)
  }

  describe('ingest', () => {
    for (const declared of [true, false]) {
      it(`works in the order that it promises, the digest ${declared ? 'declared' : 'unknown'}`, async () => {
        const engines = await open()
        const bytes = randomBytes(1000)
        const transfer = await reserved(engines, bytes, declared)
        const events: string[] = []
        const watched = ingestDeps(engines, {
          store: watchStore(engines.store, events),
          database: watchDatabase(engines.database, events),
          reach: (point) => events.push(point),
        })
        await take(watched, transfer, { commit: async () => {} })
        assert.deepEqual(events, [
          'stage',
          // Room for a body of unknown length, before a byte of it is taken.
          ...(declared ? [] : ['commit']),
          'write',
          'write',
          'publish.staged',
          // The digest is announced before the bytes get their name.
          ...(declared ? [] : ['commit']),
          'publish.announced',
          'publish',
          'publish.placed',
          'commit',
          'publish.committed',
          'discard',
        ])
        assert.deepEqual(await findings(engines), [])
      })
    }

    it('calls no bytes stored before they are: a row is `expected` until the last transaction', async () => {
      const engines = await open()
      const bytes = randomBytes(1000)
      const transfer = await reserved(engines, bytes, false)
      const seen: string[] = []
      const look = async (): Promise<void> => {
        const blob = await engines.database.reader.selectFrom('blobs').select('state').executeTakeFirst()
        const claim = await engines.database.reader.selectFrom('claims').select('state').executeTakeFirst()
        seen.push(`${blob?.state} ${claim?.state}`)
      }
      const store: BlobStore = {
        ...engines.store,
        stage: async (id) => {
          const place = await engines.store.stage(id, unplanned)
          return {
            write: (piece) => place.write(piece),
            publish: async (name) => {
              await look()
              await place.publish(name)
              await look()
            },
            discard: () => place.discard(),
          }
        },
      }
      await take(ingestDeps(engines, { store }), transfer, { commit: async () => {} })
      await look()
      assert.deepEqual(seen, ['expected pending', 'expected pending', 'stored live'])
    })

    for (const step of ['stage', 'write', 'publish']) {
      it(`leaves nothing when the store fails to ${step}`, async () => {
        const engines = await open()
        const transfer = await reserved(engines, randomBytes(1000), step !== 'write')
        const failing = ingestDeps(engines, { store: watchStore(engines.store, [], step) })
        await assert.rejects(take(failing, transfer, { commit: async () => {} }), { message: `no ${step}` })
        await leavesNothing(engines, transfer.claimId)
      })
    }

    for (const size of [1000, hashedHereBytesMax + 1])
      it(`leaves nothing when ${size} bytes break off, are wrong, or the last transaction fails`, async () => {
        const engines = await open()
        const bytes = randomBytes(size)
        const cut = await reserved(engines, bytes, true)
        const broken = (async function* () {
          yield bytes.subarray(0, 10)
          throw new Error('cut')
        })()
        const commit = async (): Promise<void> => {}
        await assert.rejects(take(ingestDeps(engines), { ...cut, pieces: broken }, { commit }), { message: 'cut' })
        await leavesNothing(engines, cut.claimId)

        const wrong = await reserved(engines, bytes, true)
        const others = (async function* () {
          yield randomBytes(size)
        })()
        await assert.rejects(take(ingestDeps(engines), { ...wrong, pieces: others }, { commit }), {
          code: 'checksum_mismatch',
        })
        await leavesNothing(engines, wrong.claimId)

        const refused = await reserved(engines, bytes, false)
        const refusing = async (): Promise<never> => {
          throw new Failure('revision_mismatch', 'somebody was faster')
        }
        await assert.rejects(take(ingestDeps(engines), refused, { commit: refusing }), { code: 'revision_mismatch' })
        await leavesNothing(engines, refused.claimId)
      })

    for (const declared of [true, false]) {
      it(`leaves no bytes when the reservation ended meanwhile, the digest ${declared ? 'declared' : 'unknown'}`, async () => {
        const engines = await open()
        const transfer = await reserved(engines, randomBytes(1000), declared)
        // What upkeep does to a transfer whose lease has lapsed, between the last look and the last transaction.
        const store: BlobStore = {
          ...engines.store,
          stage: async (id) => {
            const place = await engines.store.stage(id, unplanned)
            return {
              write: (piece) => place.write(piece),
              publish: async (name) => {
                await engines.database.transaction((tx) => release(tx, transfer.claimId, now()))
                await reclaim(engines)
                await place.publish(name)
              },
              discard: () => place.discard(),
            }
          },
        }
        await assert.rejects(take(ingestDeps(engines, { store }), transfer, { commit: async () => {} }), {
          code: 'upload_state',
        })
        await leavesNothing(engines, transfer.claimId)
      })
    }

    it('leaves nothing when the thread that hashes is lost, and takes the same bytes again', async () => {
      const engines = await open()
      const bytes = randomBytes(hashedHereBytesMax + 1)
      const lost = await reserved(engines, bytes, true)
      const pieces = (async function* () {
        yield bytes.subarray(0, 10)
        await engines.hashing.close()
        yield bytes.subarray(10)
      })()
      const commit = async (): Promise<void> => {}
      await assert.rejects(take(ingestDeps(engines), { ...lost, pieces }, { commit }), { name: 'HashLost' })
      await leavesNothing(engines, lost.claimId)
      await take(ingestDeps(engines), await reserved(engines, bytes, true), { commit })
      assert.deepEqual(await stored(engines), [digestOf(bytes)])
    })

    it('stops when others have used up the room that there was at the beginning', async () => {
      const engines = await open()
      let looks = 0
      const freeSpace = {
        writable: async () => true,
        roomBytes: async () => null,
        freeBytes: async () => null,
        refuseUnlessRoomFor: async () => {
          looks += 1
          throw new Failure('insufficient_space', 'full')
        },
      }
      const bytes = Buffer.alloc(roomLookEveryBytes + 10)
      const transfer = await reserved(engines, bytes, true)
      const commit = async (): Promise<void> => {}
      await assert.rejects(take(ingestDeps(engines, { freeSpace }), transfer, { commit }), {
        code: 'insufficient_space',
      })
      assert.equal(looks, 1)
      await leavesNothing(engines, transfer.claimId)
    })
  })

  describe('a live claim', () => {
    it('is never released before it is retired: its bytes would go from under their holder', async () => {
      const engines = await open()
      const transfer = await reserved(engines, randomBytes(1000), true)
      await take(ingestDeps(engines), transfer, { commit: async () => {} })
      await assert.rejects(
        engines.database.transaction((tx) => release(tx, transfer.claimId, now())),
        { message: /must be retired/ },
      )
      await reclaim(engines)
      assert.equal((await stored(engines)).length, 1)
      assert.deepEqual(await findings(engines), [])
    })
  })
})
