import assert from 'node:assert/strict'
import { existsSync, globSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { faultPoints } from '../../src/kernel/fault-points.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { examine } from '../harness/doctor.ts'
import { forEachEngine } from '../harness/engines.ts'
import { byEngine } from '../harness/kept-inline.ts'
import { freshFolder, type Place, placeLike } from '../harness/moving.ts'
import {
  type Environment,
  endProgramsAfterTests,
  programOf,
  runProgram,
  runSvc,
  settingsFor,
} from '../harness/processes.ts'

/** Sudden death while a catalog moves: nothing looks finished that is not, and the same command goes on. */
endProgramsAfterTests()
after(closeConnections)

const program = programOf(join(import.meta.dirname, 'moving-that-dies.ts'))
const pointsOf = (command: string) => faultPoints.filter((point) => point.startsWith(`${command}.`))

forEachEngine((engine) => {
  const settingsOf = (place: Place): Environment =>
    settingsFor(place, { SVC_BLOB_STORE: place.blobStoreUrl, ...byEngine(engine) })

  describe('killed while a catalog moves', () => {
    let catalog: Catalog
    let folder: string
    let larger = 0
    /** Stored where small files are not, wherever that is. */
    const large = (): Promise<string> => catalog.published(`${larger++} `.repeat(10_000))
    before(async () => {
      catalog = await Catalog.open(engine, byEngine(engine))
      for (let file = 0; file < 35; file++) await catalog.published()
      for (let file = 0; file < 35; file++) await large()
      folder = await freshFolder()
    })
    after(async () => {
      await catalog.close()
      await rm(folder, { recursive: true, force: true })
    })

    const killed = async (command: string, place: Place, point: string): Promise<void> => {
      const died = await runProgram(process.execPath, [program, command, folder], {
        ...settingsOf(place),
        SVC_TEST_DIE_AT: point,
      })
      assert.deepEqual([died.code, died.signal], [null, 'SIGKILL'], died.stderr)
    }
    const done = async (command: string, place: Place): Promise<string> => {
      const { code, stdout, stderr } = await runSvc([command, folder], settingsOf(place))
      assert.equal(code, 0, stdout + stderr)
      return stdout
    }
    const blobs = (): string[] => globSync(join(folder, 'blobs/*/*')).filter((path) => !path.endsWith('.new'))

    for (const point of pointsOf('export'))
      it(`at ${point}: the folder is no export, and keeps what was copied`, async () => {
        const before = blobs().map((path) => [path, statSync(path).ino])
        // What is there already is not copied again, so that something has to be new to get to the point.
        await large()
        await killed('export', catalog.service, point)
        assert.equal(existsSync(join(folder, 'manifest.json')), false)
        const place = await placeLike(catalog.service, engine)
        const { code, stderr } = await runSvc(['import', folder], settingsOf(place))
        assert.equal(code, 1)
        assert.match(stderr, /holds an export that is not finished; run svc export again/)
        await place[Symbol.asyncDispose]()
        for (const [path, ino] of before) assert.equal(statSync(String(path)).ino, ino)
      })

    it('export goes on with the same command, and leaves nothing half-written', async () => {
      const there = blobs().length
      assert.ok(there > 0)
      const said = await done('export', catalog.service)
      assert.match(said, new RegExp(`\\(${there} were there already\\)`))
      assert.deepEqual(globSync(join(folder, '**/*.new')), [])
      const again = await runSvc(['export', folder], settingsOf(catalog.service))
      assert.equal(again.code, 1)
      assert.match(again.stderr, /holds a finished export/)
    })

    for (const point of pointsOf('import'))
      it(`at ${point}: no service starts, and import goes on with the same command`, async () => {
        const place = engine.use(await placeLike(catalog.service, engine))
        await killed('import', place, point)
        // A process takes a second to start: one command for each point, and all of them for the first.
        for (const command of point === 'import.begun' ? ['up', 'serve', 'worker', 'export'] : ['up']) {
          const { code, stderr } = await runSvc(
            command === 'export' ? [command, `${folder}-none`] : [command],
            settingsOf(place),
          )
          assert.equal(code, 1, command)
          assert.match(stderr, /An import into this database is not finished/)
        }
        await done('import', place)
        assert.deepEqual((await examine(settingsOf(place))).damage, [])
        const again = await runSvc(['import', folder], settingsOf(place))
        assert.match(again.stderr, /The database is not empty/)
      })
  })
})
