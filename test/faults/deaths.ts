import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type FaultPoint, faultPoints } from '../../src/kernel/fault-points.ts'
import { partBytesMin } from '../../src/kernel/limits/transfers.ts'
import type { TestEngine } from '../harness/engines.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import { until } from '../harness/until.ts'
import { Site } from './site.ts'
import {
  answerOrNone,
  askForCompletion,
  bytesOf,
  type Door,
  type File,
  fetchBytes,
  fileOf,
  inChunks,
  inParts,
  inPartsBackwards,
  openSession,
  published,
  rawPlace,
  throughSession,
  withChecksum,
} from './uploads.ts'

/* Sudden death at each named point of publishing: acknowledged is kept, the rest all or nothing. */

/** Where a death leaves the parts of a session in their place, to be gone on with. */
const partsAreStaged: ReadonlySet<string> = new Set([
  'part.received',
  'part.placed',
  'part.recorded',
  'publish.staged',
  'publish.announced',
])

const comesInParts = (door: Door): boolean => door === inParts || door === inPartsBackwards

/** Those that storing a file by this door comes by. */
const pointsOf = (door: Door): FaultPoint[] =>
  faultPoints.filter((point) => point.startsWith('publish.') || (comesInParts(door) && point.startsWith('part.')))

/** Defines the tests: on this engine, bytes in a folder or in an object store, through these doors. */
export const deathsAtPoints = (
  engine: TestEngine,
  { objectStore, through }: { objectStore: boolean; through: readonly Door[] },
): void => {
  let site: Site
  let files = 0
  const nextFile = (bytes?: Buffer): File => {
    const name = `file-${++files}`
    return fileOf(name, bytes ?? bytesOf(`${engine.name} ${name}`, 100_000 + files))
  }

  /** Two parts, of which the first is whole. */
  const nextFileOfParts = (): File => nextFile(Buffer.alloc(partBytesMin + 100_000, `${engine.name} ${files}`))

  before(async () => {
    const settings = objectStore ? { SVC_BLOB_STORE: (await engine.freshBlobStoreUrl()) ?? '' } : {}
    site = new Site(await mkdtemp(join(tmpdir(), 'svc-kill-')), await engine.readyDatabaseUrl(), settings)
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  /** Stores the file, and remembers that this was acknowledged. */
  const store = async (door: Door, file: File): Promise<void> => {
    const told = await door.send(site, file)
    assert.ok(told.status === 200 || told.status === 201, `${door.name}: ${told.status} ${told.text}`)
    site.acknowledged.set(door.place(file, told), file.bytes)
  }

  /** What this life and the one before were told is there; that all of it is in the end, the last test sees. */
  const keepsTheLatest = (): Promise<void> =>
    site.keepsWhatItAcknowledged({ latest: Math.min(6, site.acknowledged.size) })

  /** Nothing is reserved and nothing is stored but what can be seen. */
  const nothingElse = (): Promise<void> => site.holdsOnlyWhatIsPublished({ bytes: 0, digests: [] })

  describe(objectStore ? 'with bytes in an object store killed during' : 'killed during', () => {
    for (const door of through) {
      for (const point of pointsOf(door)) {
        it(`${door.name} at ${point}: all of it is there or nothing, and it can be sent again`, async () => {
          await site.live()
          await store(withChecksum, nextFile())
          await store(throughSession, nextFile())
          const file = comesInParts(door) ? nextFileOfParts() : nextFile()
          await site.dieAt(point)
          assert.equal(await answerOrNone(door.send(site, file)), null)
          await site.died()

          await site.live()
          await site.inOrder()
          await keepsTheLatest()
          const committed = point === 'publish.committed'
          const listed = (await published(site)).filter(({ sha256 }) => sha256 === file.sha256)
          assert.equal(listed.length, committed ? 1 : 0)
          if (door === throughSession || comesInParts(door)) {
            const places = comesInParts(door) && partsAreStaged.has(point) ? 1 : 0
            const reserved = { bytes: file.bytes.byteLength, digests: [file.sha256], places }
            await site.holdsOnlyWhatIsPublished(committed ? { bytes: 0, digests: [] } : reserved)
            const session = await openSession(site, file)
            assert.deepEqual([session.status, session.json.status], [200, committed ? 'available' : 'pending'])
          } else {
            await nothingElse()
            const found = await fetchBytes(site, rawPlace(file))
            assert.ok(committed ? found?.equals(file.bytes) : found === null)
          }

          await store(door, file)
          await keepsTheLatest()
          await nothingElse()
        })
      }
    }

    for (const point of ['publish.staged', 'publish.announced', 'publish.placed', 'publish.committed'] as const) {
      it(`the work of a completion job at ${point}: the next process completes it, and nobody needs to ask`, async () => {
        await site.live()
        await store(withChecksum, nextFile())
        const file = nextFileOfParts()
        await site.dieAt(point)
        const told = await answerOrNone(askForCompletion(site, file))
        await site.died()

        await site.live()
        const session = await until('the upload is published', async () => {
          const { json } = await openSession(site, file)
          return json.status === 'available' ? json : null
        })
        if (told !== null) assert.equal(told.json.uploadId, session.id)
        site.acknowledged.set(`/api/v1/repositories/releases/artifacts/${session.id}/content`, file.bytes)
        await site.inOrder()
        await keepsTheLatest()
        await nothingElse()
      })
    }

    for (const point of ['publish.announced', 'publish.placed'] as const) {
      it(`a raw PUT at ${point} of bytes that are stored already: those stay`, async () => {
        await site.live()
        const first = nextFile()
        await store(withChecksum, first)
        const second = nextFile(first.bytes)
        await site.dieAt(point)
        assert.equal(await answerOrNone(inChunks.send(site, second)), null)
        await site.died()

        await site.live()
        await site.inOrder()
        await keepsTheLatest()
        await nothingElse()
        await store(inChunks, second)
      })
    }

    if (!objectStore) {
      /** Nothing of it was in the store, and nothing is announced. */
      for (const [door, point] of [
        [throughSession, 'publish.staged'],
        [inChunks, 'publish.committed'],
      ] as const)
        it(`${door.name} of a small file for the database at ${point}: all of it is there or nothing`, async () => {
          await site.stop()
          await site.live(inTheDatabase)
          const file = nextFile(bytesOf(`${engine.name} small ${door.name} ${point}`, 4_000))
          await site.dieAt(point)
          assert.equal(await answerOrNone(door.send(site, file)), null)
          await site.died()

          await site.live(inTheDatabase)
          await site.inOrder()
          await keepsTheLatest()
          const listed = (await published(site)).filter(({ sha256 }) => sha256 === file.sha256)
          assert.equal(listed.length, point === 'publish.committed' ? 1 : 0)
          await store(door, file)
          await keepsTheLatest()
          await nothingElse()
        })

      for (const [point, from, to] of [
        ['inline.moved', inTheStore, inTheDatabase],
        ['inline.placed', inTheDatabase, inTheStore],
      ] as const)
        it(`the move of small files ${to === inTheStore ? 'into the store' : 'into the database'} at ${point}`, async () => {
          await site.stop()
          await site.live(from)
          await store(inChunks, nextFile(bytesOf(`${engine.name} moved ${point} ${from === inTheStore}`, 5_000)))
          await site.stop()
          await site.liveUntil(point, to)
          await site.live(to)
          await site.inOrder()
          await keepsTheLatest()
          await nothingElse()
        })
    }

    it('and after all of these deaths everything that was ever acknowledged is there, bit by bit', async () => {
      await site.stop()
      await site.live()
      await site.keepsWhatItAcknowledged()
    })
  })
}
