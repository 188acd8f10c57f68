import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { makeDiskFaults } from '../harness/disk-faults.ts'
import { forEachEngine } from '../harness/engines.ts'
import { freshFolder, type Place, placeLike } from '../harness/moving.ts'
import { type Environment, endProgramsAfterTests, runSvc, settingsFor, startSvc } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const settingsOf = (place: Place): Environment => settingsFor(place, { SVC_BLOB_STORE: place.blobStoreUrl })

forEachEngine((engine) => {
  // What an object store has answered is durable.
  if (engine.name !== 'sqlite') return

  describe('an import that was killed before the names of its files were durable', () => {
    it('makes them durable when it goes on, although the files are there', async () => {
      const catalog = await Catalog.open(engine)
      for (let file = 0; file < 3; file++) await catalog.published()
      const folder = await freshFolder()
      const place = engine.use(await placeLike(catalog.service, engine))
      const disk = makeDiskFaults()
      const environment = { ...settingsOf(place), ...disk.environment }
      try {
        const exported = await runSvc(['export', folder], settingsOf(catalog.service))
        assert.equal(exported.code, 0, exported.stderr)
        const shards = globSync(join(folder, 'blobs/*')).length
        const held = disk.rule({ call: 'fsync', path: '/blobs/', action: 'hold' })
        const dying = startSvc(['import', folder], environment)
        await held.met(shards)
        dying.child.kill('SIGKILL')
        await dying.ended
        disk.clear()
        const blobs = globSync(join(place.dataDir, 'blobs/*/*'))
        assert.ok(blobs.length >= shards)
        const synced = disk.rule({ call: 'fsync', path: '/blobs/', action: 'tell' })
        const { code, stderr } = await runSvc(['import', folder], environment)
        assert.equal(code, 0, stderr)
        const paths = new Set(synced.hits().map(({ path }) => path))
        for (const blob of blobs) assert.ok(paths.has(dirname(blob)), `${dirname(blob)} was not synced`)
      } finally {
        disk.close()
        await catalog.close()
        await rm(folder, { recursive: true, force: true })
      }
    })
  })
})
