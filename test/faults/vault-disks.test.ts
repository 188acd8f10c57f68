import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { day, MiB } from '../../src/kernel/units.ts'
import { restoreTo, takePoint, withAgent } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { placeLike } from '../harness/moving.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

/** Real disks under a vault: full ones, and one that became read-only. What is there can be restored meanwhile. */
after(closeConnections)

onSqlite((engine) => {
  describe('the disk that backups go to', () => {
    let disk: SmallDisk
    let catalog: Catalog
    let url: string
    before(async () => {
      disk = mountSmallDisk(String(32 * MiB))
      mkdirSync(join(disk.path, 'vault'))
      url = `file:${join(disk.path, 'vault')}`
      catalog = await Catalog.open(engine, { ...inTheStore, SVC_BACKUP_VAULT: url })
      await catalog.published(randomBytes(2_000_000))
      await ends('completed', null)
    })
    after(async () => {
      await catalog.close()
      disk.remove()
    })
    afterEach(() => disk.makeRoom())

    const ends = async (state: string, error: string | null, reach?: (point: string) => void): Promise<void> => {
      await catalog.pass(day)
      const job = await takePoint(catalog.service, url, reach)
      assert.deepEqual([job.state, job.error_code], [state, error])
    }
    const status = async () => {
      const asked = { path: '/api/v1/backup/status', credential: catalog.service.recoveryKey }
      return (await catalog.service.ask(asked)).json
    }
    const warnings = async (): Promise<string[]> => (await status()).warnings.map(({ code }: { code: string }) => code)
    const restored = async (): Promise<void> => {
      const place = engine.use(await placeLike(catalog.service, engine))
      const { findings } = await restoreTo(place, url)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
    }

    for (const point of ['', 'backup.table', 'backup.blob', 'backup.copied'])
      it(`and is full ${point === '' ? 'before a point is taken' : `from ${point} on`}, warns and has what it had`, async () => {
        const { lastCompleted } = await status()
        for (let file = 0; file < 6; file++) await catalog.published(randomBytes(1_200_000))
        if (point === '') disk.fill(MiB)
        await ends('failed', 'vault_full', (reached) => {
          if (reached === point) disk.fill()
        })
        const codes = await warnings()
        assert.ok(codes.includes('last_run_failed') && codes.includes('vault_low_space'), String(codes))
        assert.equal((await status()).lastCompleted.id, lastCompleted.id)
        await restored()
        disk.makeRoom()
        await ends('completed', null)
        assert.deepEqual(globSync(join(disk.path, '**/*.new')), [])
        assert.ok(!(await warnings()).includes('last_run_failed'))
        await restored()
        // Room for the next of these.
        await givenUp(lastCompleted)
      })

    /** Points but the newest go, and with them what nobody holds any more. */
    const givenUp = async ({ id, snapshotAt }: { id: string; snapshotAt: string }): Promise<void> => {
      const asked = { method: 'DELETE', path: `/api/v1/backup/points/${id}`, json: { confirm: snapshotAt } }
      assert.equal((await catalog.service.ask({ ...asked, credential: catalog.service.recoveryKey })).status, 204)
      await withAgent(catalog.service, url, (agent) => agent.look())
    }

    it('and became read-only, warns, and is restored from', async () => {
      const remount = (how: string): void => void execFileSync('mount', ['-o', `remount,${how}`, disk.path])
      remount('ro')
      try {
        await ends('failed', 'vault_denied')
        assert.ok((await warnings()).includes('last_run_failed'))
        await restored()
      } finally {
        remount('rw')
      }
      await ends('completed', null)
      assert.ok(!(await warnings()).includes('last_run_failed'))
    })
  })
})
