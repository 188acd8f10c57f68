import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { adoptStore } from '../../src/content/claims/ownership.ts'
import { manifestOf, manifestText } from '../../src/features/operating/moving/manifest.ts'
import { everyCheck } from '../../src/main/every-check.ts'
import { toBlobName } from '../../src/ports/blob-name.ts'
import { unplanned } from '../../src/ports/blob-store.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf, openInspection } from '../harness/inspection.ts'
import { exportFrom, freshFolder, importTo, type Place, placeLike, withPartsOf } from '../harness/moving.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('moving a catalog', () => {
    let catalog: Catalog
    const folders: string[] = []
    before(async () => {
      catalog = await Catalog.open(engine)
      for (let file = 0; file < 5; file++) await catalog.published()
    })
    after(() => catalog.close())
    afterEach(async () => {
      for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
    })

    const fresh = async (): Promise<string> => {
      const folder = await freshFolder()
      folders.push(folder)
      return folder
    }
    const exported = async (): Promise<string> => {
      const folder = await fresh()
      await exportFrom(catalog.service, folder)
      return folder
    }
    const empty = async (): Promise<Place> => engine.use(await placeLike(catalog.service, engine))
    /** Nothing was done: another export goes in. */
    const untouched = async (place: Place): Promise<void> => {
      assert.equal((await importTo(place, await exported())).findings.filter(({ kind }) => kind === 'damage').length, 0)
    }
    const one = (folder: string, pattern: string): string => String(globSync(join(folder, pattern))[0])

    it('refuses a damaged, short or missing file of rows, and names it', async () => {
      const place = await empty()
      for (const harm of [
        (path: string) => truncate(path, 10),
        (path: string) => rm(path),
        async (path: string) => writeFile(path, (await readFile(path)).fill(7, 20, 21)),
      ]) {
        const folder = await exported()
        const file = one(folder, 'tables/artifacts-*')
        await harm(file)
        await assert.rejects(importTo(place, folder), (error: Error) => error.message.startsWith(`${file} is damaged`))
      }
      await untouched(place)
    })

    it('refuses a damaged manifest, one of another form, and a folder without', async () => {
      const place = await empty()
      const folder = await exported()
      const path = join(folder, 'manifest.json')
      const text = await readFile(path, 'utf8')
      for (const wrong of [
        text.replace('"rows":', '"rows": '),
        text.slice(0, 500),
        '',
        text.replace(/\n.*\n$/, '\n'),
      ]) {
        await writeFile(path, wrong)
        await assert.rejects(importTo(place, folder), /manifest\.json: is damaged/)
      }
      const { digest: _, ...content } = manifestOf(text)
      for (const [schema, advice] of [
        [content.schema - 1, /Import it with svc 0\.1\.0, then start this version/],
        [content.schema + 1, /Import it with svc 0\.1\.0 or newer/],
      ] as const) {
        await writeFile(path, manifestText({ ...content, schema }))
        await assert.rejects(importTo(place, folder), advice)
      }
      await rm(path)
      await assert.rejects(importTo(place, folder), /holds an export that is not finished/)
      await assert.rejects(importTo(place, await fresh()), /holds no export/)
      await assert.rejects(importTo(place, join(folder, 'nowhere')), /holds no export/)
      await untouched(place)
    })

    it('names every file of bytes that is missing or short before it writes, and one that is damaged when it gets there', async () => {
      const place = await empty()
      const folder = await exported()
      const [first, second, third] = globSync(join(folder, 'blobs/*/*'))
      await rm(String(first))
      await truncate(String(second), 1)
      await assert.rejects(importTo(place, folder), (error: Error & { faults?: string[] }) => {
        assert.match(error.message, /^2 files that the export names are missing/)
        assert.equal(error.faults?.length, 2)
        return true
      })
      await untouched(place)
      const damaged = await exported()
      const blob = join(damaged, String(third).slice(folder.length))
      await writeFile(blob, (await readFile(blob)).fill(0))
      const another = await empty()
      await assert.rejects(importTo(another, damaged), (error: Error) => error.message.startsWith(`${blob} is damaged`))
      await assert.rejects(importTo(another, await exported()), /The import of another export .* is not finished/)
    })

    it('refuses a database that something is in, and takes one that was only started', async () => {
      const folder = await exported()
      await assert.rejects(
        importTo(catalog.service, folder),
        /The database is not empty: there is something in accounts/,
      )
      const place = await empty()
      const started = await startService(engine, { on: place })
      await started.stop()
      const { findings } = await importTo(place, folder)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
    })

    it('lets no service start on what the doctor found damaged, until that is put right', async () => {
      const place = await empty()
      const miscount = (by: number): Promise<unknown> =>
        catalog.inspection.database.transaction((tx) =>
          tx
            .updateTable('repositories')
            .set((eb) => ({ published_bytes: eb('published_bytes', '+', by) }))
            .where('id', '=', 'releases')
            .execute(),
        )
      await miscount(7)
      const folder = await exported()
      await miscount(-7)
      const damage = async (): Promise<number> =>
        (await importTo(place, folder)).findings.filter(({ kind }) => kind === 'damage').length
      // What nobody knows is kept, and keeps nothing from being finished; a counter that is wrong does.
      await withPartsOf(place, async ({ store }) => {
        const staged = await store.stage('stray', unplanned)
        await staged.write(Buffer.from('nobody knows of these bytes'))
        await staged.publish(toBlobName(digestOf('nobody knows of these bytes')))
      })
      assert.equal(await damage(), 1)
      await assert.rejects(startService(engine, { on: place }), /An import into this database is not finished/)
      await withPartsOf(place, async (engines) => {
        for await (const { mend } of everyCheck(engines)) await mend?.()
      })
      assert.equal(await damage(), 0)
      await (await startService(engine, { on: place })).stop()
    })

    it('exports to no folder that holds something else, a finished export, or one of another database', async () => {
      const folder = await fresh()
      await writeFile(join(folder, 'letter.txt'), 'mine')
      await assert.rejects(exportFrom(catalog.service, folder), /is not empty and holds no export/)
      await assert.rejects(exportFrom(catalog.service, join(folder, 'letter.txt')), /is no folder/)
      assert.equal(await readFile(join(folder, 'letter.txt'), 'utf8'), 'mine')
      const finished = await exported()
      await assert.rejects(exportFrom(catalog.service, finished), /holds a finished export/)
      const place = await empty()
      await assert.rejects(exportFrom(place, finished, { refresh: true }), /holds an export of another database/)
      await rm(join(finished, 'manifest.json'))
      await assert.rejects(exportFrom(place, finished), /holds an export of another database/)
    })

    it('brings a finished export up to date: what is new comes, what is gone goes, the rest stays', async () => {
      const folder = await exported()
      const strange = join(folder, 'blobs', '00')
      await mkdir(strange, { recursive: true })
      await writeFile(join(strange, `${'0'.repeat(64)}`), 'of a file that is gone')
      await catalog.published()
      const { blobs, kept } = await exportFrom(catalog.service, folder, { refresh: true })
      assert.equal(kept, blobs - 1)
      assert.equal(globSync(join(folder, 'blobs/*/*')).length, blobs)
      await importTo(await empty(), folder)
    })

    it('names all bytes that the source lacks and finishes no export, unless bytes are left out', async () => {
      const id = await catalog.published()
      const { sha256 } = (await catalog.get(`/artifacts/${id}`)).descriptor
      await withPartsOf(catalog.service, async ({ store }) => store.delete(await catalog.inspection.nameOf(sha256)))
      const folder = await fresh()
      await assert.rejects(exportFrom(catalog.service, folder), (error: Error & { faults?: string[] }) => {
        assert.deepEqual(error.faults, [`blob ${sha256}: its bytes are missing`])
        return true
      })
      const place = await empty()
      await assert.rejects(importTo(place, folder), /not finished/)
      await exportFrom(catalog.service, folder, { withoutBytes: true })
      assert.deepEqual(globSync(join(folder, 'blobs/*/*')), [])
      // Without bytes, the store that the settings name must have them.
      await assert.rejects(importTo(place, folder), /missing in the store/)
      await catalog.inspection.database.transaction(async (tx) => {
        for (const table of ['artifacts', 'claims'] as const) await tx.deleteFrom(table).where('id', '=', id).execute()
        await tx.deleteFrom('blobs').where('sha256', '=', sha256).execute()
      })
      await catalog.inspection.mend()
      await rm(folder, { recursive: true })
      await exportFrom(catalog.service, folder, { withoutBytes: true })
      const besides = { ...place, dataDir: catalog.service.dataDir, blobStoreUrl: catalog.service.blobStoreUrl }
      const { findings } = await importTo(besides, folder)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
      // The store is that of the other now, and the source learns of it.
      assert.match((await catalog.inspection.findings()).damage.join(), /belongs to the installation/)
      await adoptStore(catalog.inspection)
    })

    it('while people write, delete and reclaim: what comes out is one state, with all of its bytes', async () => {
      const folder = await fresh()
      const state = { exporting: true, changes: 0, stolen: 0 }
      const changing = async (): Promise<void> => {
        while (state.exporting) {
          const id = await catalog.published()
          await catalog.remove(id)
          await catalog.published()
          await catalog.inspection.upkeep(0)
          state.changes += 1
        }
      }
      const running = Promise.all([changing(), changing()])
      try {
        for (let round = 0; round < 4; round++) await exportFrom(catalog.service, folder, { refresh: true })
      } finally {
        state.exporting = false
        await running
      }
      assert.ok(state.changes > 0)
      const place = await empty()
      assert.deepEqual(
        (await importTo(place, folder)).findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
      const moved = await startService(engine, { on: place, roles: { gateway: 'api', worker: false } })
      const inspection = await openInspection(moved)
      await inspection.upkeep()
      await inspection.inOrder()
      await inspection.close()
      await moved.stop()
      // The holds are gone, and reclaim goes on.
      assert.equal(
        (await inDatabase(catalog.service, (q) => q.selectFrom('reclaim_holds').selectAll().execute())).length,
        0,
      )
      await until('nothing is left to be removed', async () => {
        await catalog.inspection.upkeep(0)
        return (await catalog.inspection.findings()).waiting.length === 0
      })
      await catalog.inspection.inOrder()
    })
  })
})
