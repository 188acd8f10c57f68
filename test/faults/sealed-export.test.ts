import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { makeDiskFaults } from '../harness/disk-faults.ts'
import { forEachEngine } from '../harness/engines.ts'
import { freshFolder } from '../harness/moving.ts'
import { endProgramsAfterTests, runSvc, settingsFor, startSvc } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

forEachEngine((engine) => {
  if (engine.name !== 'sqlite') return

  it('an export whose last sync failed is called finished by nobody before that was made good', async () => {
    const catalog = await Catalog.open(engine)
    await catalog.published()
    const folder = await freshFolder()
    const disk = makeDiskFaults()
    const settings = settingsFor(catalog.service, { SVC_BLOB_STORE: catalog.service.blobStoreUrl })
    const environment = { ...settings, ...disk.environment }
    try {
      const named = disk.rule({ call: 'rename', path: 'manifest.json', action: 'hold', when: 'after', count: 1 })
      const first = startSvc(['export', folder], environment)
      await named.met()
      const failing = disk.rule({ call: 'fsync', path: folder, action: 'fail' })
      named.end()
      assert.equal((await first.ended).code, 1)
      const { code, stderr } = await runSvc(['export', folder], environment)
      assert.deepEqual([code, /finished/.test(stderr), /EIO/.test(stderr)], [1, false, true], stderr)
      failing.end()
      const synced = disk.rule({ call: 'fsync', path: folder, action: 'tell' })
      assert.match((await runSvc(['export', folder], environment)).stderr, /holds a finished export/)
      assert.ok(synced.hits().some(({ path }) => path === folder))
    } finally {
      disk.close()
      await catalog.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
