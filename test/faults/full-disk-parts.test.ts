import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { partBytesMin } from '../../src/kernel/limits/transfers.ts'
import { ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { Site } from './site.ts'
import { slowly } from './slowly.ts'
import { assertFull, mountSmallDisk, type SmallDisk } from './small-disk.ts'
import {
  answerOrNone,
  bytesOf,
  complete,
  type File,
  fileOf,
  inParts,
  openSession,
  partsOf,
  published,
  sendPart,
  sha256Of,
  storedParts,
  uploadPlace,
  withChecksum,
} from './uploads.ts'

/**
 * A disk that fills up under a session in parts: what is stored stays stored, and the session goes on once there is
 * room.
 */
const diskBytes = 48 * 1024 * 1024

endProgramsAfterTests()
after(closeConnections)

/** Parts of which each has bytes of its own. */
const fileOfParts = (name: string, lengths: readonly number[]): File =>
  fileOf(name, Buffer.concat(lengths.map((length, index) => Buffer.alloc(length, sha256Of(Buffer.from(name + index))))))

forEachEngine((engine) => {
  describe('the disk under an upload in parts', { timeout: 100_000 }, () => {
    let disk: SmallDisk
    let site: Site
    let files = 0
    const nextFile = (...lengths: number[]): File => fileOfParts(`${engine.name}-${++files}`, lengths)

    before(async () => {
      disk = mountSmallDisk(String(diskBytes))
      const dataDir = join(disk.path, 'data')
      // SQLite lies on the disk that fills up, where it lies by default.
      const url = engine.name === 'sqlite' ? `sqlite:${join(dataDir, 'svc.db')}` : await engine.freshDatabaseUrl()
      site = new Site(dataDir, url, { SVC_CLEANUP_GRACE_HOURS: '0' })
      await site.live()
      const file = fileOf('stored-before', bytesOf(engine.name, 200_000))
      const told = await withChecksum.send(site, file)
      assert.equal(told.status, 201, told.text)
      site.acknowledged.set(withChecksum.place(file, told), file.bytes)
    })
    after(async () => {
      await site?.stop()
      disk?.remove()
    })

    const partAt = (file: File, index: number): Buffer => partsOf(file)[index] ?? assert.fail('no such part')

    const open = async (file: File): Promise<string> => {
      const session = await openSession(site, file)
      assert.equal(session.status, 201, session.text)
      return uploadPlace(session)
    }

    const statusOf = async (upload: string): Promise<string> =>
      (await ask(site.url, { path: upload, credential: site.credential })).json.status

    const assertStored = async (upload: string, file: File, indexes: readonly number[]): Promise<void> => {
      const expected = new Map(indexes.map((index) => [index, sha256Of(partAt(file, index))]))
      assert.deepEqual(await storedParts(site, upload), expected)
    }

    const sendAll = async (upload: string, file: File, indexes: readonly number[]): Promise<void> => {
      for (const index of indexes) {
        const told = await sendPart(site, upload, index, partAt(file, index))
        assert.equal(told.status, 204, told.text)
      }
    }

    /** Sends a part, and does this to the disk when half of it is under way. */
    const sendIntoFullDisk = (upload: string, file: File, index: number, harm: () => void): Promise<Told> => {
      const freeBefore = disk.freeBytes()
      return sendSlowly(upload, file, index, async () => {
        await until('half of the part is being written', () => disk.freeBytes() < freeBefore - 1024 * 1024)
        harm()
      })
    }

    /** Sends until it fits; a look at the disk is believed for a second. Everything but 507 on the way is a failure. */
    const onceThereIsRoom = (what: string, send: () => Promise<Told>): Promise<Told> =>
      until(`there is room for ${what}`, async () => {
        const told = await send()
        if (told.status < 300) return told
        assertFull(told)
        return false
      })

    const sendSlowly = (upload: string, file: File, index: number, meanwhile?: () => Promise<void>): Promise<Told> =>
      slowly(partAt(file, index), meanwhile, (body) => sendPart(site, upload, index, partAt(file, index), body))

    const readsGoOn = async (): Promise<void> => {
      await site.keepsWhatItAcknowledged()
      assert.equal((await published(site)).length, site.acknowledged.size)
    }

    /** The session and what is stored of it are in their place, and nothing else is. */
    const holdsOnly = (pending: readonly File[]): Promise<void> => {
      const bytes = pending.reduce((sum, file) => sum + file.bytes.byteLength, 0)
      return site.holdsOnlyWhatIsPublished({ bytes, digests: [], places: pending.length })
    }

    /** Sends what is not stored, completes, and finds the very bytes and nothing else. */
    const goesOn = async (upload: string, file: File): Promise<void> => {
      const stored = await storedParts(site, upload)
      for (const index of partsOf(file).keys())
        if (!stored.has(index)) await onceThereIsRoom(`part ${index}`, () => sendSlowly(upload, file, index))
      const told = await onceThereIsRoom('the completion', () => complete(site, upload))
      site.acknowledged.set(inParts.place(file, told), file.bytes)
      await readsGoOn()
      await holdsOnly([])
      assert.deepEqual((await site.doctor()).damage, [])
    }

    it('fills up in the middle of a part: 507, the others stay, and the same part fits once there is room', async () => {
      const file = nextFile(partBytesMin, 100_000)
      const upload = await open(file)
      await sendAll(upload, file, [1])
      assertFull(await sendIntoFullDisk(upload, file, 0, () => disk.fill()))
      disk.fill()
      await readsGoOn()
      assert.equal(await statusOf(upload), 'pending')
      await assertStored(upload, file, [1])
      await holdsOnly([file])
      assert.deepEqual((await site.doctor()).damage, [])
      disk.makeRoom()
      await goesOn(upload, file)
    })

    it('is full when a part begins: 507, for the first one as well', async () => {
      const file = nextFile(50_000)
      const upload = await open(file)
      disk.fill()
      assertFull(await sendPart(site, upload, 0, file.bytes))
      await assertStored(upload, file, [])
      await readsGoOn()
      disk.makeRoom()
      await goesOn(upload, file)
    })

    it('is full when everything is stored: completing ends it, or says so and ends it later', async () => {
      for (const how of ['complete', 'complete-async'] as const) {
        const file = nextFile(50_000)
        const upload = await open(file)
        await sendAll(upload, file, [0])
        disk.fill()
        const told = await complete(site, upload, how)
        // Bytes that are in place take no more room; the row of the file may.
        if (told.status >= 300) assertFull(told)
        disk.fill()
        await site.keepsWhatItAcknowledged()
        disk.makeRoom()
        if (how === 'complete') await onceThereIsRoom('the completion', () => complete(site, upload))
        else if (told.status >= 300) await onceThereIsRoom('the job', () => complete(site, upload, how))
        await until('the upload is published', async () => (await statusOf(upload)) === 'available')
        site.acknowledged.set(`${upload.replace('/uploads/', '/artifacts/')}/content`, file.bytes)
        await readsGoOn()
        await holdsOnly([])
        assert.deepEqual((await site.doctor()).damage, [])
      }
    })

    it('is full when the process dies in a part: the others stay, and the part fits once there is room', async () => {
      const file = nextFile(partBytesMin, 70_000)
      const upload = await open(file)
      await sendAll(upload, file, [1])
      const dying = sendIntoFullDisk(upload, file, 0, () => {
        disk.fill()
        site.kill()
      })
      assert.equal(await answerOrNone(dying), null)
      await site.died()
      disk.makeRoom()
      await site.live()
      await assertStored(upload, file, [1])
      await holdsOnly([file])
      await goesOn(upload, file)
      await site.inOrder()
    })

    it('is too small for all parts: those that fit stay, and cancelling gives their room back', async () => {
      const freeBefore = disk.freeBytes()
      const file = nextFile(...new Array<number>(3).fill(partBytesMin), 1_000)
      const upload = await open(file)
      disk.fill(20 * 1024 * 1024)
      const told: Told[] = []
      while (told.at(-1)?.status !== 507) told.push(await sendSlowly(upload, file, told.length))
      assert.deepEqual(
        told.map(({ status }) => status),
        [204, 204, 507],
      )
      await assertStored(upload, file, [0, 1])
      // Cancelling is a write, too.
      disk.makeRoom()
      const incomplete = await complete(site, upload)
      assert.deepEqual([incomplete.status, incomplete.json.code], [409, 'parts_incomplete'], incomplete.text)
      await holdsOnly([file])
      const cancelled = await ask(site.url, { method: 'DELETE', path: upload, credential: site.credential })
      assert.ok(cancelled.status < 300, cancelled.text)
      // Upkeep begins with the process.
      await site.stop()
      await site.live()
      await until('the room is given back', () => disk.freeBytes() > freeBefore - 1024 * 1024)
      await site.inOrder()
      await readsGoOn()
      await holdsOnly([])
    })
  })
})
