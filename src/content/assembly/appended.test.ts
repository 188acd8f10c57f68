import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import type { Database, Transaction } from '../../database/database.ts'
import { timestamp } from '../../kernel/clock.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import { appendedSegmentBytes, capacityBytesDefault, objectBytesMax } from '../../kernel/limits/transfers.ts'
import { upkeepRun } from '../../kernel/one-by-one.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { checkContent } from '../checks/checks.ts'
import { release, reserve } from '../claims/claims.ts'
import { storedName } from '../claims/stored-names.ts'
import { createHashing } from '../hashing/hashing.ts'
import { createRunningHashes } from '../hashing/running-hash.ts'
import { createSmallBodies } from '../ingest/small-bodies.ts'
import { append, storedBytes } from './appended.ts'
import type { AssemblyDeps } from './assembly.ts'
import { publishAppended } from './published-appended.ts'
import { discardEndedAssemblies } from './staging.ts'

const digestOf = (bytes: Uint8Array): Sha256 => toSha256(createHash('sha256').update(bytes).digest('hex'))
const report = (message: string, error: unknown): void => {
  throw new Error(message, { cause: error })
}
const always = { assertHeld: (): void => {} }
const nothingElse = async (): Promise<void> => {}

/** Chunks of these sizes, one behind the other. */
const chunksOf = (bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] => {
  let at = 0
  return sizes.map((size) => {
    at += size
    return bytes.subarray(at - size, at)
  })
}

forEachEngine((engine) => {
  const scene = async () => {
    const { database, clock, store, freeSpace } = await openOwnEngines(engine)
    const reads = { segments: 0 }
    const watched: BlobStore = {
      ...store,
      growing: (id) => {
        const growing = store.growing(id)
        return {
          ...growing,
          readSegment: (segment) => {
            reads.segments += 1
            return growing.readSegment(segment)
          },
        }
      },
    }
    const process = (dieAt?: string): AssemblyDeps => {
      const hashing = createHashing({ saveable: !store.readsParts, report })
      engine.use({ [Symbol.asyncDispose]: () => hashing.close() })
      const reach = (point: string): void => {
        if (point === dieAt) throw new Error(`died at ${point}`)
      }
      const hashes = createRunningHashes(hashing, store.readsParts)
      return {
        database,
        clock,
        store: watched,
        freeSpace,
        reach,
        hashing,
        hashes,
        smallBodies: createSmallBodies(0),
        capacityBytes: capacityBytesDefault,
      }
    }
    let living = process()
    const claimId = newId(clock.now())
    const claim = { id: claimId, repository: 'releases', holder: 'artifact', digest: null, bytes: 0 } as const
    await database.transaction((tx) => reserve(tx, claim, capacityBytesDefault))
    const send = (
      chunk: Uint8Array,
      {
        offset = null,
        cutAfter = Number.POSITIVE_INFINITY,
        by = living,
        alongside = nothingElse,
      }: {
        offset?: number | null
        cutAfter?: number
        by?: AssemblyDeps
        alongside?: (tx: Transaction) => Promise<void>
      } = {},
    ): Promise<number> => {
      const pieces = async function* () {
        for (let at = 0; at < chunk.byteLength; at += 1_000_003) {
          if (at >= cutAfter) throw new Error('cut')
          yield Uint8Array.from(chunk.subarray(at, at + 1_000_003))
        }
      }
      return append(by, claimId, { offset, pieces: pieces(), maxBytes: objectBytesMax }, always, alongside)
    }
    return {
      claimId,
      process,
      reads,
      /** What was stored is gone. */
      lose: async () => {
        for await (const { place } of store.listStaged()) await store.discardStaged(place)
      },
      send,
      /** A process that dies at a fault point. */
      dying: (point: string) => process(point),
      /** Everything that was in memory is lost. */
      restart: () => {
        living = process()
      },
      stored: () => storedBytes(living, claimId),
      publish: (digest: Sha256, by = living, lease = always) =>
        publishAppended(by, { claimId, said: { algorithm: 'sha256', hex: digest } }, lease, async () => 'published'),
      staged: async () => (await Array.fromAsync(store.listStaged())).length,
      read: async (bytes: Uint8Array): Promise<Sha256> => {
        const hash = createHash('sha256')
        const name = await storedName({ database }, digestOf(bytes))
        for await (const piece of await store.open(name, { start: 0, end: bytes.byteLength }, bytes.byteLength))
          hash.update(piece)
        return toSha256(hash.digest('hex'))
      },
      damage: async () =>
        (await Array.fromAsync(checkContent(living))).filter(({ text }) => !/wait/.test(text)).map(({ text }) => text),
      abandon: async () => {
        await database.transaction((tx) => release(tx, claimId, timestamp(clock.now())))
        const run = upkeepRun(report)
        await discardEndedAssemblies(living, run)
        run.end()
      },
      reserved: async () =>
        (await database.reader.selectFrom('claims').select('size').where('id', '=', claimId).executeTakeFirst())?.size,
    }
  }

  describe('appending', () => {
    it('takes chunks of any size, and publishes them as one without reading any of it again', async () => {
      const sizes = [1, 0, 5_000_000, 3_388_607, 1, 2 * appendedSegmentBytes + 3, 70_000]
      const bytes = randomBytes(sizes.reduce((sum, size) => sum + size, 0))
      const { send, stored, publish, read, staged, damage, reads, reserved } = await scene()
      let end = 0
      for (const chunk of chunksOf(bytes, sizes)) {
        const offset = end
        end += chunk.byteLength
        assert.equal(await send(chunk, { offset }), end)
        assert.equal(await stored(), end)
      }
      const tails = reads.segments
      assert.equal(await publish(digestOf(bytes)), 'published')
      assert.equal(reads.segments, tails)
      assert.equal(await read(bytes), digestOf(bytes))
      assert.equal(await reserved(), bytes.byteLength)
      assert.equal(await staged(), 0)
      assert.deepEqual(await damage(), [])
    })

    it('refuses another offset than the end, and goes on behind it', async () => {
      const bytes = randomBytes(3000)
      const { send, stored, publish, read } = await scene()
      await send(bytes.subarray(0, 1000), { offset: 0 })
      for (const offset of [0, 999, 1001, 9_000_000])
        await assert.rejects(send(bytes.subarray(1000), { offset }), { code: 'range_not_satisfiable' })
      assert.equal(await stored(), 1000)
      assert.equal(await send(bytes.subarray(1000)), 3000)
      await publish(digestOf(bytes))
      assert.equal(await read(bytes), digestOf(bytes))
    })

    it('keeps the whole segments of a chunk that broke off, and lets another process go on', async () => {
      const bytes = randomBytes(2 * appendedSegmentBytes + 500_000)
      const { send, stored, publish, read, restart, damage } = await scene()
      await send(bytes.subarray(0, 1_000_000))
      const cut = send(bytes.subarray(1_000_000), { cutAfter: appendedSegmentBytes + 2_000_000 })
      await assert.rejects(cut, { message: 'cut' })
      assert.equal(await stored(), appendedSegmentBytes)
      restart()
      assert.equal(await send(bytes.subarray(appendedSegmentBytes)), bytes.byteLength)
      await publish(digestOf(bytes))
      assert.equal(await read(bytes), digestOf(bytes))
      assert.deepEqual(await damage(), [])
    })

    for (const point of ['part.received', 'part.placed', 'part.recorded'])
      it(`goes on from what is stored after a death at ${point}`, async () => {
        const bytes = randomBytes(appendedSegmentBytes + 10_000)
        const { send, stored, publish, read, restart, dying } = await scene()
        await send(bytes.subarray(0, 5000))
        await assert.rejects(send(bytes.subarray(5000), { by: dying(point) }), { message: `died at ${point}` })
        const end = await stored()
        assert.ok([5000, appendedSegmentBytes].includes(end), `${end} bytes are stored`)
        restart()
        await send(bytes.subarray(end), { offset: end })
        await publish(digestOf(bytes))
        assert.equal(await read(bytes), digestOf(bytes))
      })

    it('records the last of a chunk together with what its caller writes, or not at all', async () => {
      const { send, stored } = await scene()
      const refusing = async (): Promise<void> => {
        throw new Error('the lease is lost')
      }
      await assert.rejects(send(randomBytes(10), { alongside: refusing }), { message: 'the lease is lost' })
      assert.equal(await stored(), 0)
    })

    it('refuses a wrong digest, takes more after it, and publishes under the right one', async () => {
      const bytes = randomBytes(2000)
      const { send, publish, read } = await scene()
      await send(bytes.subarray(0, 1000))
      await assert.rejects(publish(digestOf(bytes)), { code: 'checksum_mismatch' })
      await send(bytes.subarray(1000))
      await publish(digestOf(bytes))
      assert.equal(await read(bytes), digestOf(bytes))
    })

    for (const point of ['publish.staged', 'publish.announced', 'publish.placed'])
      it(`is published by another process after a death at ${point}`, async () => {
        const bytes = randomBytes(appendedSegmentBytes + 1)
        const { send, publish, read, restart, dying, staged, damage } = await scene()
        await send(bytes)
        await assert.rejects(publish(digestOf(bytes), dying(point)), { message: `died at ${point}` })
        restart()
        if (point !== 'publish.staged') {
          await assert.rejects(send(Uint8Array.of(1)), { code: 'upload_state' })
          await assert.rejects(publish(digestOf(Uint8Array.of(1))), { code: 'checksum_mismatch' })
        }
        await publish(digestOf(bytes))
        assert.equal(await read(bytes), digestOf(bytes))
        assert.equal(await staged(), 0)
        assert.deepEqual(await damage(), [])
      })

    it('publishes nothing as a file without bytes', async () => {
      const { publish, read } = await scene()
      await assert.rejects(publish(digestOf(Uint8Array.of(1))), { code: 'checksum_mismatch' })
      await publish(digestOf(new Uint8Array()))
      assert.equal(await read(new Uint8Array()), digestOf(new Uint8Array()))
    })

    /** A process that is frozen between asking its lease and its next transaction. */
    const heldBack = (deps: AssemblyDeps, meanwhile: () => Promise<void>) => {
      let isHeld = true
      const transaction: Database['transaction'] = async (...of) => {
        const wasHeld = isHeld
        isHeld = false
        if (wasHeld) await meanwhile()
        return deps.database.transaction(...of)
      }
      return { ...deps, database: { ...deps.database, transaction } }
    }

    it('refuses what a process appends that was frozen while another one publishes', async () => {
      const bytes = randomBytes(3000)
      const digest = digestOf(bytes)
      const { send, publish, read, process, damage } = await scene()
      await send(bytes)
      const dying = process('publish.announced')
      const late = heldBack(process(), () =>
        assert.rejects(publish(digest, dying), { message: 'died at publish.announced' }),
      )
      await assert.rejects(send(randomBytes(500), { by: late }), { code: 'busy' })
      await publish(digest)
      assert.equal(await read(bytes), digest)
      assert.deepEqual(await damage(), [])
    })

    it('announces nothing of a process that was frozen while another one appended', async () => {
      const bytes = randomBytes(3500)
      const begin = digestOf(bytes.subarray(0, 3000))
      const { send, publish, read, process, damage } = await scene()
      await send(bytes.subarray(0, 3000))
      const late = heldBack(process(), async () => {
        assert.equal(await send(bytes.subarray(3000, 3400)), 3400)
      })
      await assert.rejects(publish(begin, late), { code: 'busy' })
      assert.equal(await send(bytes.subarray(3400)), 3500)
      await publish(digestOf(bytes))
      assert.equal(await read(bytes), digestOf(bytes))
      assert.deepEqual(await damage(), [])
    })

    it('takes nothing for verified whose bytes are gone and that was never announced', async () => {
      const bytes = randomBytes(3000)
      const { send, publish, process, lose } = await scene()
      await send(bytes)
      let lost = false
      const late = heldBack(process(), async () => {
        lost = true
      })
      const lease = {
        assertHeld: (): void => {
          if (lost) throw new Error('the lease is lost')
        },
      }
      await assert.rejects(publish(digestOf(bytes), late, lease), { message: 'the lease is lost' })
      await assert.rejects(send(Uint8Array.of(1)), { code: 'upload_state' })
      await lose()
      await assert.rejects(publish(digestOf(bytes), process()), { code: 'upload_state' })
    })

    it('begins at another place when its own is gone before anything was stored', async () => {
      const { send, lose, restart, publish, read } = await scene()
      const bytes = randomBytes(70_000)
      await assert.rejects(send(bytes, { cutAfter: 0 }), /cut/)
      await lose()
      restart()
      // A store that has no places misses none.
      await send(bytes).catch(async (error: unknown) => {
        assert.ok(error instanceof Failure && error.code === 'busy', String(error))
        await send(bytes)
      })
      await publish(digestOf(bytes))
      assert.equal(await read(bytes), digestOf(bytes))
    })

    for (const more of [1, appendedSegmentBytes])
      it(`is lost with its place once something was stored in it, whoever appends ${more} bytes`, async () => {
        const { send, lose, restart, stored } = await scene()
        await send(randomBytes(70_000))
        await lose()
        restart()
        for (let times = 0; times < 2; times++) await assert.rejects(send(randomBytes(more)), { code: 'upload_state' })
        assert.equal(await stored(), 70_000)
      })

    it('leaves nothing of an upload that was abandoned', async () => {
      const { send, abandon, staged, damage } = await scene()
      await send(randomBytes(appendedSegmentBytes + 5))
      assert.ok((await staged()) > 0)
      await abandon()
      assert.equal(await staged(), 0)
      assert.deepEqual(await damage(), [])
      await assert.rejects(send(Uint8Array.of(1)), { code: 'upload_state' })
    })
  })
})
