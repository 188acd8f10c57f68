import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { MiB } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { examine } from '../harness/doctor.ts'
import { forEachEngine } from '../harness/engines.ts'
import { freshFolder, type Place, placeLike } from '../harness/moving.ts'
import {
  type End,
  type Environment,
  endProgramsAfterTests,
  programOf,
  runProgram,
  runSvc,
  settingsFor,
} from '../harness/processes.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

/** A catalog moves to a disk that fills up: the command ends with a sentence, and goes on once there is room. */
endProgramsAfterTests()
after(closeConnections)

const diskBytes = 24 * MiB
const files = 24
const fileBytes = 200_000
/** Progress may have been told before. */
const full = /^svc: The disk is full\./m
const program = programOf(join(import.meta.dirname, 'moving-that-dies.ts'))

forEachEngine((engine) => {
  describe('the disk that a catalog moves to', { timeout: 200_000 }, () => {
    let catalog: Catalog
    let disk: SmallDisk
    /** A finished export on another disk. */
    let exported: string
    before(async () => {
      catalog = await Catalog.open(engine)
      for (let file = 0; file < files; file++) await catalog.published(randomBytes(fileBytes / 2).toString('hex'))
      exported = await freshFolder()
      await done('export', exported, catalog.service)
    })
    after(async () => {
      await catalog.close()
      await rm(exported, { recursive: true, force: true })
    })

    type Ended = End & { stdout: string; stderr: string }
    const settingsOf = (place: Place): Environment => settingsFor(place, { SVC_BLOB_STORE: place.blobStoreUrl })
    const done = async (command: string, folder: string, place: Place): Promise<string> => {
      const { code, stdout, stderr } = await runSvc([command, folder], settingsOf(place))
      assert.equal(code, 0, stdout + stderr)
      return stdout
    }
    /** The command, on a disk that fills up at a point. */
    const filledAt = (point: string, command: string, folder: string, place: Place): Promise<Ended> =>
      runProgram(process.execPath, [program, command, folder], {
        ...settingsOf(place),
        SVC_TEST_FILL_AT: point,
        SVC_TEST_DISK: disk.path,
      })
    const assertRefused = ({ code, signal, stdout, stderr }: Ended, sentence: RegExp): void => {
      assert.deepEqual([code, signal, stdout], [1, null, ''], stderr)
      assert.match(stderr, sentence)
      assert.match(stderr, /Make room and go on with the same command\.\n$/)
      assert.doesNotMatch(stderr, /\n {4}at |ENOSPC/)
    }
    /** Everything is there, and each byte of each file. */
    const holdsEverything = async (place: Place): Promise<void> => {
      assert.deepEqual((await examine(settingsOf(place))).damage, [])
      const { code, stdout, stderr } = await runSvc(['scrub'], settingsOf(place))
      assert.equal(code, 0, stdout + stderr)
      assert.match(stdout, new RegExp(`^${files} files .* 0 have changed`))
    }
    const blobs = (folder: string): string[] => globSync(join(folder, 'blobs/*/*'))

    describe('while it is exported', () => {
      let folder: string
      before(() => {
        disk = mountSmallDisk(String(diskBytes))
        folder = join(disk.path, 'export')
      })
      after(() => disk?.remove())
      afterEach(() => {
        assert.deepEqual(
          globSync('**/*.new', { cwd: folder }).concat(globSync('**/*-journal', { cwd: folder })),
          [],
          'nothing is left half-written',
        )
        disk.makeRoom()
      })

      it('and is full before that begins, is told so', async () => {
        disk.fill()
        assertRefused(await runSvc(['export', folder], settingsOf(catalog.service)), full)
      })

      it('and has too little room for the bytes, is told so before they are copied', async () => {
        disk.fill(2 * MiB)
        const told = await runSvc(['export', folder], settingsOf(catalog.service))
        assertRefused(
          told,
          new RegExp(`${folder}: ${files * fileBytes} bytes are to be copied there, and only \\d+ are`),
        )
        assert.deepEqual(blobs(folder), [])
      })

      for (const point of ['export.piece', 'export.blob', 'export.copied'])
        it(`and fills up at ${point}, keeps what was copied and looks unfinished`, async () => {
          const kept = blobs(folder)
          assertRefused(await filledAt(point, 'export', folder, catalog.service), full)
          assert.equal(existsSync(join(folder, 'manifest.json')), false)
          const now = blobs(folder)
          assert.deepEqual(
            kept.filter((path) => !now.includes(path)),
            [],
          )
          if (point === 'export.blob') assert.ok(now.length > 0 && now.length < files, `${now.length} files are there`)
        })

      it('and has room again, lets the same command go on to a whole export', async () => {
        const kept = blobs(folder).length
        const said = await done('export', folder, catalog.service)
        assert.match(said, new RegExp(`\\(${kept} were there already\\)`))
        const place = engine.use(await placeLike(catalog.service, engine))
        await done('import', folder, place)
        await holdsEverything(place)
      })
    })

    describe('while it is imported', () => {
      let place: Place
      before(async () => {
        disk = mountSmallDisk(String(diskBytes))
        const dataDir = join(disk.path, 'data')
        // SQLite lies on the disk that fills up, where it lies by default. PostgreSQL lies elsewhere: there only bytes
        // meet the end of the disk.
        const databaseUrl =
          engine.name === 'sqlite' ? `sqlite:${join(dataDir, 'svc.db')}` : await engine.freshDatabaseUrl()
        place = { dataDir, databaseUrl, blobStoreUrl: '', clock: catalog.service.clock }
      })
      after(() => disk?.remove())
      afterEach(() => disk.makeRoom())

      it('and has too little room for the bytes, is told so before they are copied', async () => {
        disk.fill(4 * MiB)
        const told = await runSvc(['import', exported], settingsOf(place))
        assertRefused(told, new RegExp(`no room for the ${files * fileBytes} bytes`))
        assert.deepEqual(blobs(place.dataDir), [])
      })

      for (const point of engine.name === 'sqlite' ? ['import.blob', 'import.piece'] : ['import.blob'])
        it(`and fills up at ${point}, lets no service start`, async () => {
          assertRefused(
            await filledAt(point, 'import', exported, place),
            /^svc: The (?:disk is full|store has no room)/m,
          )
          disk.makeRoom()
          const { code, stderr } = await runSvc(['up'], settingsOf(place))
          assert.equal(code, 1)
          assert.match(stderr, /An import into this database is not finished/)
        })

      it('and has room again, lets the same command go on to a whole catalog', async () => {
        await done('import', exported, place)
        await holdsEverything(place)
      })
    })
  })
})
