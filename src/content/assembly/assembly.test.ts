import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../test/harness/own-engines.ts'
import type { Database } from '../../database/database.ts'
import { type Sha256, toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import { capacityBytesDefault, partBytesMin, roomLookEveryBytes } from '../../kernel/limits/transfers.ts'
import type { Engines } from '../../main/engines.ts'
import { type Assembly, AssemblyLost, type BlobStore, unplanned } from '../../ports/blob-store.ts'
import { announcedName, reserve } from '../claims/claims.ts'
import { storedName } from '../claims/stored-names.ts'
import { createHashing } from '../hashing/hashing.ts'
import { createRunningHashes, type RunningHashes } from '../hashing/running-hash.ts'
import { bytesToRead, publishAssembly } from './assembled.ts'
import { findAssembly } from './assembly.queries.ts'
import { type AssemblyDeps, receivePart } from './assembly.ts'
import { planParts } from './part-plan.ts'

const digestOf = (bytes: Uint8Array): Sha256 => toSha256(createHash('sha256').update(bytes).digest('hex'))

const report = (message: string, error: unknown): void => {
  throw new Error(message, { cause: error })
}

const always = { assertHeld: (): void => {} }

/** Room for these bytes, as an upload session has it. */
const reserved = async (database: Database, bytes: Uint8Array, nowMs: number) => {
  const blob = { ...planParts(bytes.byteLength), claimId: newId(nowMs), digest: digestOf(bytes) }
  const claim = {
    id: blob.claimId,
    repository: 'releases',
    holder: 'artifact',
    digest: blob.digest,
    bytes: blob.bytes,
  } as const
  await database.transaction((tx) => reserve(tx, claim, capacityBytesDefault))
  return blob
}

/**
 * A store that notes which parts are read back, and gives only those that were written for it unless it `readsParts`.
 */
const watching = (store: BlobStore, readsParts: boolean, read: number[]): BlobStore => {
  const readable = new Set<string>()
  const watched = (assembly: Assembly, place: string): Assembly => ({
    ...assembly,
    writePart: (index, options) => {
      if (options.readBack) readable.add(`${place} ${index}`)
      return assembly.writePart(index, options)
    },
    readPart: (part) => {
      assert.ok(readsParts || readable.has(`${place} ${part.index}`), `part ${part.index} cannot be read back`)
      read.push(part.index)
      return assembly.readPart(part)
    },
  })
  return { ...store, readsParts, assembly: (place, plan) => watched(store.assembly(place, plan), place) }
}

forEachEngine((engine) => {
  const open = (): Promise<Engines> => openOwnEngines(engine)

  /** An upload of some parts; `send` them, `finish`, and see which were read back. */
  const scene = async (readsParts: boolean, bytes: Uint8Array) => {
    const { database, clock, store, freeSpace, reach, hashing, smallBodies } = await open()
    const read: number[] = []
    const watched = watching(store, readsParts, read)
    const deps = {
      database,
      clock,
      store: watched,
      freeSpace,
      reach,
      hashing,
      smallBodies,
      capacityBytes: capacityBytesDefault,
    }
    const freshHashes = (): RunningHashes => {
      const own = createHashing({ saveable: !readsParts, report })
      engine.use({ [Symbol.asyncDispose]: () => own.close() })
      return createRunningHashes(own, readsParts)
    }
    let process: AssemblyDeps = { ...deps, hashes: freshHashes() }
    const blob = await reserved(database, bytes, clock.now())
    const sliceOf = (index: number): Uint8Array => bytes.subarray(index * partBytesMin, (index + 1) * partBytesMin)
    return {
      read,
      stored: async () => store.size(await storedName(deps, blob.digest)),
      toRead: () => bytesToRead(process, blob),
      /** Everything that was in memory is lost. */
      restart: () => {
        process = { ...deps, hashes: freshHashes() }
      },
      /** Its place in the store is gone, with all that is in it. */
      lose: async (): Promise<void> => {
        const assembly = await findAssembly(database.reader, blob.claimId)
        await store.discardStaged(assembly?.place ?? assert.fail('no assembly'))
      },
      send: async (index: number, slice = sliceOf(index)): Promise<void> => {
        const pieces = async function* () {
          for (let at = 0; at < slice.byteLength; at += 1_000_003) yield slice.slice(at, at + 1_000_003)
        }
        const incoming = { index, digest: digestOf(sliceOf(index)), pieces: pieces() }
        await receivePart(process, blob, incoming, always, async () => {})
      },
      finish: () => publishAssembly(process, blob, always, async () => 'published'),
    }
  }

  it('lets the store write only while the turn is held', async () => {
    const { database, clock, store, freeSpace, reach, hashing, smallBodies } = await open()
    const hashes = createRunningHashes(hashing, true)
    let mayWrite: (() => void) | undefined
    const watched: BlobStore = {
      ...store,
      assembly: (place, plan) => ({
        ...store.assembly(place, plan),
        writePart: (index, options) => {
          mayWrite = options.mayWrite
          return store.assembly(place, plan).writePart(index, options)
        },
      }),
    }
    const deps = {
      database,
      clock,
      store: watched,
      freeSpace,
      reach,
      hashing,
      smallBodies,
      hashes,
      capacityBytes: capacityBytesDefault,
    }
    const bytes = randomBytes(1000)
    const blob = await reserved(database, bytes, clock.now())
    let held = true
    const lease = {
      assertHeld: () => {
        if (!held) throw new Failure('busy', 'The lease is lost.')
      },
    }
    const pieces = async function* () {
      yield bytes.slice(0, 500)
      mayWrite?.()
      held = false
      assert.throws(() => mayWrite?.(), /The lease is lost/)
      yield bytes.slice(500)
    }
    const incoming = { index: 0, digest: digestOf(bytes), pieces: pieces() }
    await assert.rejects(
      receivePart(deps, blob, incoming, lease, async () => {}),
      /The lease is lost/,
    )
  })

  for (const readsParts of [true, false])
    describe(`in front of a store that ${readsParts ? 'reads' : 'does not read'} parts back`, () => {
      it('reads nothing when the parts came in order, again or not', async () => {
        const bytes = randomBytes(2 * partBytesMin + 1)
        const { read, toRead, send, finish, stored } = await scene(readsParts, bytes)
        for (const index of [0, 0, 1, 0, 2, 2]) await send(index)
        assert.equal(await toRead(), 0)
        assert.equal(await finish(), 'published')
        assert.deepEqual(read, [])
        assert.equal(await stored(), bytes.byteLength)
      })

      it('reads what came out of order, and no more', async () => {
        const { read, toRead, send, finish } = await scene(readsParts, randomBytes(3 * partBytesMin + 1))
        for (const index of [0, 3, 1, 2]) await send(index)
        assert.equal(await toRead(), 1)
        await finish()
        assert.deepEqual(read, [3])
      })

      it('puts together whatever order they come in, with restarts in between', async () => {
        const bytes = randomBytes(3 * partBytesMin + 7)
        const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 })
        await fc.assert(
          fc.asyncProperty(order, fc.nat(3), async (indexes, restartBefore) => {
            const upload = await scene(readsParts, bytes)
            for (const [n, index] of indexes.entries()) {
              if (n === restartBefore) upload.restart()
              await upload.send(index)
            }
            await upload.finish()
            assert.equal(await upload.stored(), bytes.byteLength)
          }),
          { numRuns: 4 },
        )
      })
    })

  describe('after a restart', () => {
    it('reads all of it again where the hash was in memory', async () => {
      const { read, restart, send, finish } = await scene(true, randomBytes(partBytesMin + 1))
      for (const index of [0, 1]) await send(index)
      restart()
      await finish()
      assert.deepEqual(read, [0, 1])
    })

    it('reads nothing where the hash was kept with the parts', async () => {
      const { read, restart, send, finish } = await scene(false, randomBytes(2 * partBytesMin + 1))
      await send(0)
      restart()
      await send(1)
      restart()
      await send(2)
      restart()
      await finish()
      assert.deepEqual(read, [])
    })
  })

  it('begins at another place when its own is gone before anything was stored', async () => {
    const bytes = randomBytes(partBytesMin + 10)
    const upload = await scene(true, bytes)
    await assert.rejects(upload.send(0, randomBytes(partBytesMin)), /SHA-256/)
    await upload.lose()
    await assert.rejects(upload.send(0), (error) => error instanceof Failure && error.code === 'busy')
    await upload.send(0)
    await upload.send(1)
    await upload.finish()
    assert.equal(await upload.stored(), bytes.byteLength)
  })

  it('is lost with its place once a part of it was stored', async () => {
    const upload = await scene(true, randomBytes(partBytesMin + 10))
    await upload.send(0)
    await upload.lose()
    await assert.rejects(upload.send(1), (error) => error instanceof Failure && error.code === 'upload_state')
    await assert.rejects(upload.send(1), (error) => error instanceof Failure && error.code === 'upload_state')
  })

  describe('whose parts are gone', () => {
    /** A session of these bytes, which declares those. From `deny` on, its parts cannot be read. */
    const begun = async (sent: Uint8Array, declared: Uint8Array) => {
      const { database, clock, store, freeSpace, reach, hashing, smallBodies } = await open()
      let denied = false
      const denying: BlobStore = {
        ...store,
        assembly: (place, plan) => {
          const assembly = store.assembly(place, plan)
          const lost = async (): Promise<never> => {
            throw new AssemblyLost('denied')
          }
          return denied ? { ...assembly, readPart: lost, publish: lost } : assembly
        },
      }
      const common = {
        database,
        clock,
        store: denying,
        freeSpace,
        reach,
        hashing,
        smallBodies,
        capacityBytes: capacityBytesDefault,
      }
      const blob = await reserved(database, declared, clock.now())
      const pieces = async function* () {
        yield Uint8Array.from(sent)
      }
      const incoming = { index: 0, digest: digestOf(sent), pieces: pieces() }
      const hashes = createRunningHashes(hashing, true)
      await receivePart({ ...common, hashes }, blob, incoming, always, async () => {})
      const name = await announcedName(database.reader, blob.claimId)
      return {
        finish: (commit = async () => 'published') =>
          publishAssembly({ ...common, hashes: createRunningHashes(hashing, true) }, blob, always, commit),
        put: async (id: string, bytes: Uint8Array): Promise<void> => {
          const staged = await store.stage(id, unplanned)
          await staged.write(Uint8Array.from(bytes))
          await staged.publish(name)
        },
        stored: async () =>
          Buffer.concat(
            await Array.fromAsync(await store.open(name, { start: 0, end: 1000 }), (piece) => Buffer.from(piece)),
          ),
        size: () => store.size(name),
        deny: () => {
          denied = true
        },
      }
    }

    it('gets nothing that others have by that name, unless they were seen to be what was declared', async () => {
      const [sent, declared] = [randomBytes(1000), randomBytes(1000)]
      const { finish, put, size, deny } = await begun(sent, declared)
      deny()
      await assert.rejects(finish(), { code: 'upload_state' })
      assert.equal(await size(), null)
      await put('right', declared)
      await assert.rejects(finish(), { code: 'upload_state' })
    })

    it('is refused as what it is while they can be read, whatever bears the name, and gets nothing later', async () => {
      const [sent, declared] = [randomBytes(1000), randomBytes(1000)]
      const { finish, put, deny } = await begun(sent, declared)
      await put('right', declared)
      await assert.rejects(finish(), { code: 'checksum_mismatch' })
      deny()
      await assert.rejects(finish(), { code: 'upload_state' })
    })

    it('goes on where a try broke off that had seen them: by what has the digest, and by nothing else', async () => {
      const bytes = randomBytes(1000)
      const { finish, put, stored, deny } = await begun(bytes, bytes)
      const broken = (): Promise<never> => Promise.reject(new Error('the process dies'))
      await assert.rejects(finish(broken), /the process dies/)
      deny()
      await put('other', randomBytes(1000))
      await assert.rejects(finish(), { code: 'upload_state' })
      await put('right', bytes)
      assert.equal(await finish(), 'published')
      assert.ok((await stored()).equals(bytes))
    })
  })

  it('a part that takes long looks again whether the disk keeps its reserve, and can be sent again', async () => {
    const { database, clock, store, reach, hashing, hashes, smallBodies } = await open()
    const asked: number[] = []
    const admits = [true, true, false]
    const freeSpace = {
      writable: async () => true,
      roomBytes: async () => null,
      freeBytes: async () => null,
      refuseUnlessRoomFor: async (bytes: number): Promise<void> => {
        asked.push(bytes)
        if (admits.shift() === false) throw new Failure('insufficient_space', 'no room')
      },
    }
    const deps = {
      database,
      clock,
      store,
      freeSpace,
      reach,
      hashing,
      hashes,
      smallBodies,
      capacityBytes: capacityBytesDefault,
    }
    const bytes = Buffer.alloc(2 * roomLookEveryBytes + 1, 'part')
    const [claimId, digest] = [newId(clock.now()), digestOf(bytes)]
    const blob = { bytes: bytes.byteLength, partBytes: 4 * roomLookEveryBytes, claimId, digest }
    const claim = { id: claimId, repository: 'releases', holder: 'artifact', digest, bytes: blob.bytes } as const
    await database.transaction((tx) => reserve(tx, claim, capacityBytesDefault))
    const send = (): Promise<void> => {
      const pieces = async function* () {
        for (let at = 0; at < bytes.byteLength; at += 65_536) yield bytes.subarray(at, at + 65_536)
      }
      return receivePart(deps, blob, { index: 0, digest, pieces: pieces() }, always, async () => {})
    }
    await assert.rejects(send(), { code: 'insufficient_space' })
    assert.deepEqual(asked, [blob.bytes, 0, 0])
    await send()
    const name = await announcedName(database.reader, claimId)
    assert.equal(await publishAssembly(deps, blob, always, async () => 'published'), 'published')
    assert.equal(await store.size(name), blob.bytes)
  })
})
