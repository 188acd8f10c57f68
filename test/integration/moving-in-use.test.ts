import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { exportFrom, freshFolder, importTo, type Place, placeLike } from '../harness/moving.ts'
import { type Environment, runSvcMeanwhile, settingsFor } from '../harness/processes.ts'

after(closeConnections)

const settingsOf = (place: Place): Environment => settingsFor(place, { SVC_BLOB_STORE: place.blobStoreUrl })
type Ended = ReturnType<typeof runSvcMeanwhile>

/** Does something at the first time that a point is reached; what it came to. */
const atFirst = (wanted: string, work: () => Ended): { reach: (point: string) => void; ended: () => Ended } => {
  let ended: Ended | null = null
  return {
    reach: (point) => {
      if (point === wanted) ended ??= work()
    },
    ended: () => {
      assert.ok(ended !== null, `${wanted} was not reached`)
      return ended
    },
  }
}

forEachEngine((engine) => {
  describe('a folder that is in use', () => {
    let catalog: Catalog
    let folder: string
    before(async () => {
      catalog = await Catalog.open(engine)
      for (let file = 0; file < 5; file++) await catalog.published()
    })
    after(() => catalog.close())
    beforeEach(async (context) => {
      folder = await freshFolder()
      if ('after' in context) context.after(() => rm(folder, { recursive: true, force: true }))
    })
    const empty = async (): Promise<Place> => engine.use(await placeLike(catalog.service, engine))
    const assertRefused = ({ code, stdout, stderr }: Ended, sentence: string): void => {
      assert.deepEqual([code, stdout, stderr], [1, '', `svc: ${sentence}\n`])
    }
    const inUse = (): string =>
      `${folder} is in use: another svc export writes to it, or an svc import reads it. Wait until that has ended.`

    it('by an export is not exported to, and not imported from', async () => {
      const place = await empty()
      for (const [args, where, sentence] of [
        [['export', folder], catalog.service, inUse()],
        [['export', '--refresh', folder], catalog.service, inUse()],
        [['export', '--without-bytes', folder], catalog.service, inUse()],
        [['import', folder], place, `An svc export is writing to ${folder}. Wait until it has ended.`],
      ] as const) {
        const meanwhile = atFirst('export.piece', () => runSvcMeanwhile(args, settingsOf(where)))
        await exportFrom(catalog.service, folder, { refresh: true }, meanwhile.reach)
        assertRefused(meanwhile.ended(), sentence)
      }
      assert.equal((await importTo(place, folder)).findings.filter(({ kind }) => kind === 'damage').length, 0)
    })

    it('by an import is not exported to, and another import from it does no harm', async () => {
      await exportFrom(catalog.service, folder)
      const [one, two, three] = [await empty(), await empty(), await empty()]
      const exporting = atFirst('import.begun', () =>
        runSvcMeanwhile(['export', '--refresh', folder], settingsOf(catalog.service)),
      )
      await importTo(one, folder, exporting.reach)
      assertRefused(exporting.ended(), inUse())
      const importing = atFirst('import.piece', () => runSvcMeanwhile(['import', folder], settingsOf(three)))
      await importTo(two, folder, importing.reach)
      assert.equal(importing.ended().code, 0, importing.ended().stderr)
      await exportFrom(catalog.service, folder, { refresh: true })
    })

    it('is free again after every end, and nothing is made in one that is refused', async () => {
      await assert.rejects(importTo(await empty(), folder), /holds no export/)
      assert.deepEqual(await readdir(folder), [])
      await exportFrom(catalog.service, folder)
      await assert.rejects(exportFrom(catalog.service, folder), /holds a finished export/)
      await assert.rejects(importTo(catalog.service, folder), /The database is not empty/)
      await exportFrom(catalog.service, folder, { refresh: true })
      // Copied without its lock, as some tools leave out what is empty.
      await rm(join(folder, 'export.lock'))
      await importTo(await empty(), folder)
      assert.equal(existsSync(join(folder, 'manifest.json')), true)
      assert.deepEqual(globSync(join(folder, '*-journal')), [])
    })
  })
})
