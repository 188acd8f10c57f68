import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { exportReadAgainDays } from '../../src/kernel/limits/engines.ts'
import { day } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { exportFrom, freshFolder, importTo, type Place, placeLike } from '../harness/moving.ts'
import { endProgramsAfterTests, runSvc, settingsFor } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

forEachEngine((engine) => {
  describe('an export whose files rot', () => {
    let catalog: Catalog
    let folder: string
    let rotten: string
    before(async () => {
      catalog = await Catalog.open(engine, inTheStore)
      for (let file = 0; file < 3; file++) await catalog.published()
    })
    after(() => catalog.close())
    beforeEach(async (context) => {
      folder = await freshFolder()
      if ('after' in context) context.after(() => rm(folder, { recursive: true, force: true }))
      await exportFrom(catalog.service, folder)
      rotten = String(globSync(join(folder, 'blobs/*/*'))[1])
      await rot()
    })
    const rot = async (): Promise<void> => writeFile(rotten, (await readFile(rotten)).fill(0))
    const whole = async (): Promise<boolean> => digestOf(await readFile(rotten)) === basename(rotten)
    const verified = async (...options: string[]): Promise<string> => {
      const settings = settingsFor(catalog.service, { SVC_BLOB_STORE: catalog.service.blobStoreUrl })
      const { code, stdout, stderr } = await runSvc(['export', folder, ...options], settings)
      assert.equal(code, 0, stderr)
      return stdout
    }
    const refused = async (place: Place): Promise<string> =>
      importTo(place, folder).then(
        () => assert.fail('it was imported'),
        (error: Error) => error.message,
      )

    it('is made whole by --verify, also when it was not finished, and says how many were replaced', async () => {
      assert.match(await verified('--refresh', '--verify'), /3 of them read again, 1 damaged and replaced\)/)
      assert.equal(await whole(), true)
      assert.match(await verified('--refresh', '--verify'), /3 of them read again, 0 damaged and replaced\)/)
      await rot()
      await rm(join(folder, 'manifest.json'))
      assert.match(await verified('--verify'), /3 of them read again, 1 damaged and replaced\)/)
      assert.equal(await whole(), true)
    })

    it('is read again by plain refreshes, a share each day', async () => {
      const share = Number.parseInt(basename(rotten).slice(0, 2), 16) % exportReadAgainDays
      const refresh = (days: number) =>
        exportFrom(
          {
            ...catalog.service,
            clock: { ...catalog.service.clock, now: () => (700 * exportReadAgainDays + days) * day },
          },
          folder,
          { refresh: true },
        )
      assert.equal((await refresh(share + 1)).replaced, 0)
      assert.equal(await whole(), false)
      assert.equal((await refresh(share + exportReadAgainDays)).replaced, 1)
      assert.equal(await whole(), true)
    })

    it('is refused with the command that mends it; an import that was begun before goes on in a new database', async () => {
      const place = engine.use(await placeLike(catalog.service, engine))
      const damage = await refused(place)
      assert.ok(damage.startsWith(`${rotten} is damaged`), damage)
      assert.ok(damage.includes(`svc export --refresh --verify ${folder} `), damage)
      await verified('--refresh', '--verify')
      assert.match(await refused(place), /older state of this one is not finished .* begin with a new database/)
      const { findings, blobs } = await importTo({ ...place, databaseUrl: await engine.freshDatabaseUrl() }, folder)
      assert.deepEqual([findings.filter(({ kind }) => kind === 'damage'), blobs], [[], 3])
    })

    it('keeps what others have put into it, and loses what it no longer names', async () => {
      const own = ['tables/artifacts-000777.ndjson.zst', `blobs/ab/ab${'0'.repeat(62)}`]
      const theirs = ['tables/mine.txt', 'blobs/ab/mine.txt', `blobs/ab/${'0'.repeat(64)}`]
      await mkdir(join(folder, 'blobs/ab'), { recursive: true })
      for (const name of [...own, ...theirs]) await writeFile(join(folder, name), 'mine')
      await verified('--refresh')
      assert.deepEqual(
        [...own, ...theirs].filter((name) => globSync(join(folder, name)).length > 0),
        theirs,
      )
    })
  })
})
