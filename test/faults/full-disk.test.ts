import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { askDoctor, endProgramsAfterTests, keyIn, listening, startSvc } from '../harness/processes.ts'
import { until } from '../harness/until.ts'
import { Site } from './site.ts'
import { slowly } from './slowly.ts'
import { assertFull, mountSmallDisk, type SmallDisk } from './small-disk.ts'
import {
  bytesOf,
  type Door,
  doors,
  type File,
  fetchBytes,
  fileOf,
  inChunks,
  openSession,
  published,
  rawPlace,
  type Target,
  uploadPlace,
  withChecksum,
} from './uploads.ts'

/**
 * A disk that fills up: what does not fit is refused in words, what is stored stays readable, and nothing is damaged.
 */
const diskBytes = 48 * 1024 * 1024
const tooManyBytes = diskBytes + 1024 * 1024
const smallBytes = 65_536

endProgramsAfterTests()
after(closeConnections)

interface OnTheWay {
  /** A session was opened for the file, and reserves its room. */
  readonly opened: () => void
  /** Happens when half of it is under way. */
  readonly meanwhile?: () => Promise<void>
}

/** Sends a file slowly, or is refused before. */
const sendSlowly = async (door: Door, to: Target, file: File, { opened, meanwhile }: OnTheWay): Promise<Told> => {
  const length = { 'content-length': String(file.bytes.byteLength) }
  const put = (path: string, headers: Record<string, string>): Promise<Told> =>
    slowly(file.bytes, meanwhile, (body) =>
      ask(to.url, { method: 'PUT', path, credential: to.credential, headers, body }),
    )
  if (door === withChecksum) return put(rawPlace(file), { ...length, 'x-checksum-sha256': file.sha256 })
  if (door === inChunks) return put(rawPlace(file), {})
  const session = await openSession(to, file)
  if (session.status !== 201) return session
  opened()
  return put(`${uploadPlace(session)}/content`, { ...length, 'content-type': 'application/octet-stream' })
}

forEachEngine((engine) => {
  describe('the disk', { timeout: 100_000 }, () => {
    let disk: SmallDisk
    let site: Site
    let files = 0
    const nextFile = (length: number): File => {
      const name = `file-${++files}`
      return fileOf(name, bytesOf(`${engine.name} ${name}`, length))
    }
    /** Sessions that are open, for they reserve room. */
    const pending = new Map<string, File>()

    before(async () => {
      disk = mountSmallDisk(String(diskBytes))
      const dataDir = join(disk.path, 'data')
      // SQLite lies on the disk that fills up, where it lies by default.
      const url = engine.name === 'sqlite' ? `sqlite:${join(dataDir, 'svc.db')}` : await engine.freshDatabaseUrl()
      site = new Site(dataDir, url)
      await site.live()
      for (const door of doors) await store(door, nextFile(200_000))
    })
    after(async () => {
      await site?.stop()
      disk?.remove()
    })

    const store = async (door: Door, file: File, to: Target = site): Promise<void> => {
      const told = await door.send(to, file)
      assert.ok(told.status === 200 || told.status === 201, `${door.name}: ${told.status} ${told.text}`)
      site.acknowledged.set(door.place(file, told), file.bytes)
      pending.delete(file.path)
    }

    /** Sends until it fits; a look at the disk is believed for a second. Everything but 507 on the way is a failure. */
    const storeOnceThereIsRoom = (door: Door, file: File): Promise<unknown> =>
      until(`there is room for ${door.name}`, async () => {
        const told = await door.send(site, file)
        if (told.status === 507) return false
        assert.ok(told.status === 200 || told.status === 201, `${door.name}: ${told.status} ${told.text}`)
        site.acknowledged.set(door.place(file, told), file.bytes)
        pending.delete(file.path)
        return true
      })

    const nothingElse = (): Promise<void> => {
      const waiting = [...pending.values()]
      const bytes = waiting.reduce((sum, file) => sum + file.bytes.byteLength, 0)
      return site.holdsOnlyWhatIsPublished({ bytes, digests: [] })
    }

    const readsGoOn = async (): Promise<void> => {
      await site.keepsWhatItAcknowledged()
      assert.equal((await published(site)).length, site.acknowledged.size)
      assert.equal((await ask(site.url, { path: '/health/status' })).json.status, 'ready')
    }

    for (const door of doors) {
      it(`${door.name} of more than the disk holds is refused, and leaves nothing behind`, async () => {
        const file = fileOf(`file-${++files}`, Buffer.alloc(tooManyBytes, door.name))
        assertFull(await sendSlowly(door, site, file, { opened: () => assert.fail('no disk here holds it') }))
        await readsGoOn()
        await nothingElse()
        await storeOnceThereIsRoom(door, nextFile(100_000))
        await nothingElse()
      })

      it(`${door.name} is refused when the disk fills up while it comes, and fits once there is room`, async () => {
        await storeOnceThereIsRoom(inChunks, nextFile(1_000))
        const file = nextFile(4 * 1024 * 1024)
        const freeBefore = disk.freeBytes()
        const told = await sendSlowly(door, site, file, {
          opened: () => pending.set(file.path, file),
          meanwhile: async () => {
            await until('the first half is being staged', () => disk.freeBytes() < freeBefore - 1024 * 1024)
            disk.fill()
          },
        })
        assertFull(told)
        disk.fill()
        await readsGoOn()
        disk.makeRoom()
        await storeOnceThereIsRoom(door, file)
        await readsGoOn()
        await nothingElse()
        assert.deepEqual((await site.doctor()).damage, [])
      })
    }

    it('with no byte left refuses every write in words, and works again without a restart', async () => {
      disk.fill()
      const small = doors.map((door) => ({ door, file: nextFile(smallBytes) }))
      let refusedInARow = 0
      await until('nothing is taken any more', async () => {
        disk.fill()
        const file = nextFile(1)
        const told = await openSession(site, file)
        if (told.status === 201) {
          pending.set(file.path, file)
          refusedInARow = 0
          // PostgreSQL lies elsewhere: sessions may always be opened.
          return engine.name === 'postgres' && pending.size > 20
        }
        assertFull(told)
        refusedInARow += 1
        return refusedInARow === 20
      })
      for (const { door, file } of small) assertFull(await door.send(site, file))
      await readsGoOn()
      assert.deepEqual((await site.doctor()).damage, [])

      disk.makeRoom()
      for (const { door, file } of small) await storeOnceThereIsRoom(door, file)
      await readsGoOn()
      // A reservation that could not be given back, because that too is a write, lapses. A restart is an hour of it.
      await site.stop()
      await site.live()
      await site.inOrder()
      await nothingElse()
    })

    it('full when the process dies: nothing is lost, and it starts again once there is room', async () => {
      disk.fill()
      const refused = doors.map((door) => ({ door, file: nextFile(smallBytes) }))
      for (const { door, file } of refused) assertFull(await door.send(site, file))
      site.kill()
      await site.died()
      disk.makeRoom()
      await site.live()
      await site.inOrder()
      await readsGoOn()
      for (const { door, file } of refused) await storeOnceThereIsRoom(door, file)
      await nothingElse()
    })

    it('with less than the reserve left takes nothing and says so, and downloads go on', async () => {
      await site.stop()
      const settings = { ...site.settings, SVC_FREE_SPACE_RESERVE_BYTES: String(2 * diskBytes) }
      const program = startSvc(['up'], settings)
      const to: Target = { url: await listening(program), credential: keyIn(site.dataDir, 'bootstrap-token.txt') }
      try {
        for (const door of doors) assertFull(await door.send(to, nextFile(1_000)))
        const ready = await ask(to.url, { path: '/health/ready', credential: keyIn(site.dataDir, 'health-token.txt') })
        assert.deepEqual([ready.status, ready.json.writable], [200, false], ready.text)
        for (const [place, bytes] of site.acknowledged) assert.ok((await fetchBytes(to, place))?.equals(bytes), place)
        assert.deepEqual(await askDoctor(settings), { damage: [], waiting: [] })
      } finally {
        program.child.kill('SIGKILL')
        await program.ended
      }
      await site.live()
      const ready = await ask(site.url, {
        path: '/health/ready',
        credential: keyIn(site.dataDir, 'health-token.txt'),
      })
      assert.deepEqual([ready.status, ready.json.writable], [200, true], ready.text)
      for (const door of doors) await store(door, nextFile(1_000))
      await site.inOrder()
      await readsGoOn()
    })
  })
})
