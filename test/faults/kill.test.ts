import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type FaultPoint, faultPoints } from '../../src/kernel/fault-points.ts'
import { partBytesMin } from '../../src/kernel/limits.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'
import { until } from '../harness/until.ts'
import { Site } from './site.ts'
import {
  answerOrNone,
  askForCompletion,
  bytesOf,
  type Door,
  doors,
  type File,
  fetchBytes,
  fileOf,
  inChunks,
  inParts,
  openSession,
  published,
  rawPlace,
  throughSession,
  withChecksum,
} from './uploads.ts'

/** Sudden death, at each named point of publishing and at random moments: acknowledged is kept, the rest all or nothing. */
const rounds = 3
const clients = 6
const filesPerClient = 3
const seed = process.env['SVC_TEST_SEED'] ?? 'kill'

/** Where a death leaves the parts of a session in their place, to be gone on with. */
const partsAreStaged: ReadonlySet<string> = new Set([
  'part.verified',
  'part.placed',
  'part.recorded',
  'publish.staged',
  'publish.announced',
])

/** Those that storing a file by this door comes by. */
const pointsOf = (door: Door): FaultPoint[] =>
  faultPoints.filter((point) => point.startsWith('publish.') || (door === inParts && point.startsWith('part.')))

endProgramsAfterTests()
after(closeConnections)

forEachEngine((engine) => {
  let site: Site
  let files = 0
  const nextFile = (bytes?: Buffer): File => {
    const name = `file-${++files}`
    return fileOf(name, bytes ?? bytesOf(`${engine.name} ${name}`, 100_000 + files))
  }

  /** Two parts, of which the first is whole. */
  const nextFileOfParts = (): File => nextFile(Buffer.alloc(partBytesMin + 100_000, `${engine.name} ${files}`))

  before(async () => {
    site = new Site(await mkdtemp(join(tmpdir(), 'svc-kill-')), await engine.freshDatabaseUrl())
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

  /** Nothing is reserved and nothing is stored but what can be seen. */
  const nothingElse = (): Promise<void> => site.holdsOnlyWhatIsPublished({ bytes: 0, digests: [] })

  describe('killed during', () => {
    for (const door of [...doors, inParts]) {
      for (const point of pointsOf(door)) {
        it(`${door.name} at ${point}: all of it is there or nothing, and it can be sent again`, async () => {
          await site.live()
          await store(withChecksum, nextFile())
          await store(throughSession, nextFile())
          const file = door === inParts ? nextFileOfParts() : nextFile()
          await site.dieAt(point)
          assert.equal(await answerOrNone(door.send(site, file)), null)
          await site.died()

          await site.live()
          await site.inOrder()
          await site.keepsWhatItAcknowledged()
          const committed = point === 'publish.committed'
          const listed = (await published(site)).filter(({ sha256 }) => sha256 === file.sha256)
          assert.equal(listed.length, committed ? 1 : 0)
          if (door === throughSession || door === inParts) {
            const places = door === inParts && partsAreStaged.has(point) ? 1 : 0
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
          await site.keepsWhatItAcknowledged()
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
        await site.keepsWhatItAcknowledged()
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
        await site.keepsWhatItAcknowledged()
        await nothingElse()
        await store(inChunks, second)
      })
    }
  })

  describe('killed at random moments under load', () => {
    /** What was sent and not answered. */
    interface Unknown {
      readonly door: Door
      readonly file: File
    }

    /** One client: new paths, paths that it replaces, sessions, and reads of what it stored. Ends with the service. */
    const upload = async (name: string, unknown: Unknown[]): Promise<void> => {
      const random = randomOf(`${seed} ${engine.name} ${name}`)
      for (let count = 0; ; count++) {
        const door = doors[Math.floor(random() * doors.length)] ?? inChunks
        const replaced = door !== throughSession && random() < 0.5
        const path = replaced ? `${name}/replaced-${Math.floor(random() * filesPerClient)}` : `${name}/${count}`
        const file = fileOf(path, bytesOf(`${seed} ${name} ${count}`, Math.floor(200_000 * random() ** 3)))
        const told = await answerOrNone(door.send(site, file))
        if (told === null || told.status === 503) {
          unknown.push({ door, file })
          return
        }
        assert.ok(told.status === 200 || told.status === 201, `${told.status} ${told.text}`)
        site.acknowledged.set(door.place(file, told), file.bytes)
      }
    }

    for (let round = 1; round <= rounds; round++) {
      it(`keeps what was acknowledged and nothing half (round ${round}, seed ${seed})`, async () => {
        await site.live()
        const unknown: Unknown[] = []
        const uploading = Array.from({ length: clients }, (_, index) => upload(`r${round}-c${index}`, unknown))
        await pause(100 + 900 * randomOf(`${seed} moment ${round}`)())
        site.kill()
        await Promise.all(uploading)
        await site.died()
        assert.equal(unknown.length, clients)

        await site.live()
        await site.inOrder()
        for (const { door, file } of unknown) {
          if (door === throughSession) continue
          const place = rawPlace(file)
          const found = await fetchBytes(site, place)
          const before = site.acknowledged.get(place)
          const whole = found?.equals(file.bytes) === true
          assert.ok(whole || (before === undefined ? found === null : found?.equals(before)), `${place} is half`)
          if (whole) site.acknowledged.set(place, file.bytes)
        }
        await site.keepsWhatItAcknowledged()
        for (const { door, file } of unknown) await store(door, file)
        await site.keepsWhatItAcknowledged()
        await nothingElse()
        await site.inOrder()
      })
    }
  })
})
