import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { filesOf } from '../../src/features/operating/backups/contents.ts'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import { day } from '../../src/kernel/units.ts'
import { pointsOf } from '../../src/main/restoring.ts'
import { VaultFailure, type VaultTrouble } from '../../src/ports/vault.ts'
import { freshVault, removeVault, restoreTo, roomOf, takePoint, withAgent } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { placeLike } from '../harness/moving.ts'

after(closeConnections)

onSqlite((engine) => {
  describe('the vault of a service', () => {
    let catalog: Catalog
    let url: string
    let folder: string

    before(async () => {
      catalog = await Catalog.open(engine, { ...inTheStore, SVC_BACKUP_VAULT: 'file:/configured' })
      await catalog.published(randomBytes(2_000_000))
      await catalog.published('small')
    })
    after(() => catalog.close())
    beforeEach(async () => {
      url = await freshVault(engine)
      folder = url.slice('file:'.length)
      // Another day, so that the plan keeps each point.
      await catalog.pass(day)
    })

    afterEach(() => removeVault(url))

    const get = async (path: string) =>
      (await catalog.service.ask({ path: `/api/v1/backup/${path}`, credential: catalog.service.recoveryKey })).json
    const post = (path: string) => {
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const asked = { method: 'POST', path: `/api/v1/backup/${path}`, credential: catalog.service.recoveryKey, headers }
      return expectAnswer(catalog.service, asked, 202)
    }
    const warnings = async (): Promise<string[]> =>
      (await get('status')).warnings.map(({ code }: { code: string }) => code)
    const points = async () => (await get('points')).items
    const look = () => withAgent(catalog.service, url, (agent) => agent.look())
    const taken = async (room?: Room): Promise<void> => {
      const job = await takePoint(catalog.service, url, undefined, room)
      assert.deepEqual([job.state, job.error_code], ['completed', null])
    }
    const files = (kind: string): string[] => globSync(join(folder, `data/*/*.${kind}*`))
    const restored = async (): Promise<void> => {
      const place = engine.use(await placeLike(catalog.service, engine))
      const { findings } = await restoreTo(place, url)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
    }
    const [newest, oldest] = [0, -1]
    /** What is told of a point once all of it was read. */
    const verified = async (at: number): Promise<[string, string | null]> => {
      await post(`points/${(await points()).at(at).id}/verify`)
      await look()
      const { verifyDepth, verifyError } = (await points()).at(at)
      return [verifyDepth, verifyError]
    }

    it('tells of flipped bits and of what is missing or torn; the next point writes it anew, and can be restored', async () => {
      for (const [does, error] of [
        [async (path: string) => flip(path), 'damaged'],
        [async (path: string) => rm(path), 'missing'],
        [async (path: string) => truncate(path, 10), 'damaged'],
      ] as const) {
        await taken()
        assert.deepEqual(await verified(newest), ['deep', null])
        assert.ok(!(await warnings()).includes('never_deep_verified'))
        // Each of the kinds of data that a point consists of.
        for (const kind of ['blob', 'pack', 'rows'] as const) await does(files(kind).sort()[0] ?? '')
        assert.deepEqual(await verified(newest), ['deep', error])
        assert.ok((await warnings()).includes('verify_failed'))
        await catalog.pass(day)
        await taken()
        assert.deepEqual(await verified(newest), ['deep', null])
        await restored()
        await removeVault(url)
        await mkdir(folder)
      }
    })

    it('is told of as unavailable while its folder is missing, and nothing is written in its place', async () => {
      await taken()
      await rename(folder, `${folder}-away`)
      await catalog.pass(day)
      const job = await takePoint(catalog.service, url)
      assert.deepEqual([job.state, job.error_code], ['failed', 'vault_unreachable'])
      assert.deepEqual((await get('status')).vault.available, false)
      assert.ok((await warnings()).includes('vault_unavailable'))
      assert.ok((await warnings()).includes('last_run_failed'))
      assert.equal((await points()).length, 1, 'what is known of it stays')
      await rename(`${folder}-away`, folder)
      await catalog.pass(day)
      await taken()
      assert.equal((await points()).length, 2)
      assert.ok(!(await warnings()).includes('last_run_failed'))
    })

    it('shows only its own points when it is replaced, and them again when it is put back', async () => {
      await taken()
      const own = (await points()).map(({ id }: { id: string }) => id)
      await rename(folder, `${folder}-away`)
      await mkdir(folder)
      await catalog.pass(day)
      await look()
      assert.deepEqual(await points(), [])
      assert.ok((await warnings()).includes('no_backup_yet'))
      await taken()
      const other = (await points()).map(({ id }: { id: string }) => id)
      assert.equal(other.includes(own[0]), false)
      await rename(folder, `${folder}-other`)
      await rename(`${folder}-away`, folder)
      await catalog.pass(day)
      await look()
      assert.deepEqual(
        (await points()).map(({ id }: { id: string }) => id),
        own,
      )
      await rm(`${folder}-other`, { recursive: true })
    })

    it('fails a point that finds no room, and goes on once there is some', async () => {
      const room = await roomOf(url)
      for (const trouble of ['full', 'denied', 'unreachable'] as const) {
        await catalog.published(randomBytes(2_000_000))
        let written = 0
        const failing = failingRoom(room, trouble, () => ++written > 3)
        const job = await takePoint(catalog.service, url, undefined, failing)
        assert.deepEqual([job.state, job.error_code], ['failed', `vault_${trouble}`])
        assert.ok((await warnings()).includes('last_run_failed'))
        const before = files('*').length
        assert.ok(before > 0)
        await taken()
        assert.ok(files('*').length > before)
        await catalog.pass(day)
      }
      await restored()
    })

    it('fails a point of which a stored file is damaged, and names it in the log; earlier points still have it', async () => {
      await taken()
      const bytes = randomBytes(2_000_000)
      await catalog.published(bytes)
      const stored = globSync(join(catalog.service.dataDir, 'blobs/??/*'))
      const found = await Promise.all(stored.map(async (path) => [path, await readFile(path)] as const))
      const [path = ''] = found.find(([, content]) => content.equals(bytes)) ?? []
      await flip(path)
      await catalog.pass(day)
      const job = await takePoint(catalog.service, url)
      assert.deepEqual([job.state, job.error_code], ['failed', 'source_damaged'])
      assert.equal((await points()).length, 1)
      await flip(path)
      await taken()
    })

    it('gets its room back when points go, and keeps those that are pinned', async () => {
      const room = await roomOf(url)
      /** Every file is named by a point that is there. */
      const nothingElse = async (): Promise<void> => {
        const named = new Set<string>()
        for (const manifest of await pointsOf(room))
          for await (const { name } of filesOf(room, manifest)) named.add(name)
        assert.deepEqual(
          files('*')
            .map((path) => path.slice(folder.length + 1))
            .sort(),
          [...named].sort(),
        )
      }
      const put = (path: string, json: object) => {
        const asked = { method: 'PUT', path: `/api/v1/backup/${path}`, credential: catalog.service.recoveryKey, json }
        return expectAnswer(catalog.service, asked, 200)
      }
      const schedule = { enabled: false, hour: 2, minute: 0, timezone: 'UTC' }
      const retention = { daily: 0, weekly: 0, monthly: 0 }
      await put('plan', { expectedRevision: (await get('plan')).revision, ...schedule, retention })
      await taken()
      const [first] = await points()
      await put(`points/${first.id}/pin`, { pinned: true })
      for (let changes = 0; changes < 3; changes++) {
        await catalog.published(`change ${changes}`)
        await catalog.pass(3 * day)
        await taken()
        assert.equal((await points()).length, 2, 'the newest, and the one that is pinned')
        assert.equal((await points()).at(oldest).id, first.id)
      }
      await nothingElse()
      const before = files('*').length
      await put(`points/${first.id}/pin`, { pinned: false })
      await catalog.pass(3 * day)
      await taken()
      assert.equal((await points()).length, 1)
      await nothingElse()
      assert.ok(files('*').length < before)
      await restored()
    })
  })
})

/** Changes a byte in the middle of a file, without changing its length; doing it again undoes it. */
const flip = async (path: string): Promise<void> => {
  const file = await open(path, 'r+')
  try {
    const { size } = await file.stat()
    const byte = Buffer.alloc(1)
    await file.read(byte, 0, 1, Math.floor(size / 2))
    byte[0] = (byte[0] ?? 0) ^ 1
    await file.write(byte, 0, 1, Math.floor(size / 2))
  } finally {
    await file.close()
  }
}

/** A room in whose vault nothing can be written any more, from some moment on. */
const failingRoom = (room: Room, trouble: VaultTrouble, fails: () => boolean): Room => {
  const refuse = (): void => {
    if (fails()) throw new VaultFailure(trouble, room.vault.where, 'as the test says')
  }
  return {
    ...room,
    vault: {
      ...room.vault,
      async write(...args) {
        refuse()
        return await room.vault.write(...args)
      },
      async create(...args) {
        refuse()
        return await room.vault.create(...args)
      },
    },
  }
}
