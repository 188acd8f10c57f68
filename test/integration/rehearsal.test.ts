import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pointName } from '../../src/features/operating/backups/layout.ts'
import { rehearsalIsDue } from '../../src/features/operating/backups/rehearsals.ts'
import { newId } from '../../src/kernel/ids.ts'
import { day } from '../../src/kernel/units.ts'
import { withPointToTry } from '../../src/main/commands/point-to-try.ts'
import { rehearse } from '../../src/main/rehearsing/rehearsing.ts'
import { findPointFor, PointUnclear } from '../../src/main/restoring.ts'
import { freshVault, removeVault, roomOf, takePoint } from '../harness/backups.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { withPartsOf } from '../harness/moving.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('a restore that is tried', () => {
    let rich: RichCatalog
    let vault: string
    let folder: string
    before(async () => {
      rich = await openRichCatalog(engine)
      vault = await freshVault(engine)
      folder = await mkdtemp(join(tmpdir(), 'svc-scratch-'))
      assert.equal((await takePoint(rich.catalog.service, vault)).state, 'completed')
      await rich.catalog.service.restart({ SVC_BACKUP_VAULT: vault })
    })
    after(async () => {
      await rich.catalog.close()
      await removeVault(vault)
      await rm(folder, { recursive: true, force: true })
    })

    const tried = () =>
      withPartsOf(rich.catalog.service, async (engines) => {
        const room = await roomOf(vault)
        const stage = { folder: join(folder, 'rehearsal'), told: () => {} }
        return await rehearse(engines, room, await findPointFor(room, 'latest'), stage)
      })
    const status = async () => {
      const asked = { path: '/api/v1/backup/status', credential: rich.catalog.service.recoveryKey }
      return (await rich.catalog.service.ask(asked)).json
    }
    const isDue = (vaultId: string) =>
      withPartsOf(rich.catalog.service, ({ database, clock }) => rehearsalIsDue(database.reader, vaultId, clock.now()))

    it('proves the point by its answers of every kind, and leaves nothing behind', async () => {
      const before = await status()
      assert.deepEqual([before.lastProven, before.rehearsalError], [null, null])
      assert.equal(await isDue(before.vault.id), true)
      const { rows, blobs, answers, errorCode } = await tried()
      assert.equal(errorCode, null)
      assert.ok(rows > 100 && answers > 30 && blobs >= 0, `${rows} rows, ${answers} answers`)
      assert.deepEqual(await readdir(folder), ['rehearsal.lock'])
      const { lastProven, rehearsalError, lastCompleted } = await status()
      assert.deepEqual([lastProven.pointId, rehearsalError], [lastCompleted.id, null])
    })

    it('knows no credential of the point while its reader answers, though all of them are good at the service', async (t) => {
      const { writer, reader, base, service } = rich.catalog
      const credentials = [writer.token, reader.token]
      const path = `${base}/artifacts`
      for (const credential of credentials) assert.equal((await service.ask({ path, credential })).status, 200)
      const told: number[] = []
      const { fetch } = globalThis
      t.mock.method(globalThis, 'fetch', async (address: string, init: RequestInit) => {
        const url = new URL(path, address)
        if (told.length === 0)
          for (const credential of credentials)
            told.push((await fetch(url, { headers: { authorization: `Bearer ${credential}` } })).status)
        return await fetch(address, init)
      })
      assert.equal((await tried()).errorCode, null)
      assert.deepEqual(told, [401, 401])
    })

    it('is due again a month later', async () => {
      const { vault: found } = await status()
      assert.equal(await isDue(found.id), false)
      await rich.catalog.pass(29 * day)
      assert.equal(await isDue(found.id), false)
      await rich.catalog.pass(2 * day)
      assert.equal(await isDue(found.id), true)
    })

    if (engine.name === 'sqlite')
      it('that fails says why, and the last one that was proven stays', async () => {
        const [pack = ''] = globSync(join(vault.slice('file:'.length), 'data/*/*.rows*'))
        const bytes = await readFile(pack)
        await writeFile(pack, Buffer.from(bytes).fill(0, 10, 20))
        await assert.rejects(tried())
        await writeFile(pack, bytes)
        const { lastProven, rehearsalError } = await status()
        assert.equal(rehearsalError, 'point_damaged')
        assert.notEqual(lastProven, null)
        assert.deepEqual(await readdir(folder), ['rehearsal.lock'])
        assert.equal(await isDue((await status()).vault.id), false, 'not before another day has passed')
      })

    it('is told of where a restore of the newest point would be refused, and not asked for again before the next day', async () => {
      const { vault: found, lastProven } = await status()
      const room = await roomOf(vault)
      const choose = (word: string) =>
        withPartsOf(rich.catalog.service, (engines) =>
          withPointToTry(engines, room, word, async (manifest) => manifest.id),
        )
      const newest = await findPointFor(room, 'latest')
      await rich.catalog.pass(day)
      assert.equal(await isDue(found.id), true)
      const name = pointName(newId(Date.parse(newest.snapshotAt) + day))
      await room.vault.create(name, Buffer.from('torn'))
      await assert.rejects(choose('latest'), PointUnclear)
      await assert.rejects(choose('2001-01-01T00:00Z'))
      await room.vault.remove([name])
      const told = await status()
      assert.deepEqual([told.rehearsalError, told.lastProven], ['point_unreadable', lastProven])
      assert.equal(await isDue(found.id), false)
      assert.equal(await choose('latest'), newest.id)
    })
  })
})
