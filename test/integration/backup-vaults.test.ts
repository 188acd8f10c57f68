import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { spoolsIn } from '../../src/adapters/files/spool.ts'
import type { Queries } from '../../src/database/database.ts'
import { captureRows } from '../../src/features/operating/backups/capture-rows.ts'
import { byData } from '../../src/features/operating/backups/chunks.ts'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import { chunksOf } from '../../src/features/operating/backups/manifest.ts'
import { realTimers, type Timers } from '../../src/kernel/timers.ts'
import { day, minute } from '../../src/kernel/units.ts'
import { VaultFailure, type VaultTrouble } from '../../src/ports/vault.ts'
import { toVaultName } from '../../src/ports/vault-name.ts'
import { freshVault, manifestsIn, removeVault, restoreTo, roomOf, takePoint, withAgent } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { placeLike, withPartsOf } from '../harness/moving.ts'
import { until } from '../harness/until.ts'

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
    const newest = 0
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

    it('keeps what a capture copied that found no end, for the next one to go on from', async () => {
      await taken()
      const blobs = files('blob').length
      const dies = (point: string): void => {
        if (point === 'backup.copied') throw new Error('as the test says')
      }
      await catalog.published(randomBytes(2_000_000))
      assert.equal((await takePoint(catalog.service, url, dies)).state, 'failed')
      assert.equal(files('blob').length, blobs + 1)
      // Retention comes by each day.
      await catalog.pass(3 * day)
      await look()
      assert.equal((await get('jobs')).items[0].kind, 'retention')
      assert.equal(files('blob').length, blobs + 1)
      await taken()
      assert.ok(Number((await points())[newest].newBytes) < 100_000)
      assert.deepEqual(globSync(join(folder, 'index/*')), [])
      // Nobody came for it in a month.
      await catalog.published(randomBytes(2_000_000))
      assert.equal((await takePoint(catalog.service, url, dies)).state, 'failed')
      await catalog.pass(31 * day)
      await look()
      assert.equal(files('blob').length, blobs + 1)
      assert.deepEqual(globSync(join(folder, 'index/*')), [])
      await restored()
    })

    it('that is write-once keeps what may not go yet, and lets it go later', async () => {
      let once = true
      const room = await roomOf(url)
      const locked: Room = {
        ...room,
        vault: {
          ...room.vault,
          async remove(names) {
            if (once && names.some((name) => !name.startsWith('index/')))
              throw new VaultFailure('denied', room.vault.where, 'locked')
            await room.vault.remove(names)
          },
        },
      }
      await taken(locked)
      const [point] = await points()
      await catalog.pass(2 * day)
      await catalog.published('another day')
      await taken(locked)
      const asked = { method: 'DELETE', path: `/api/v1/backup/points/${point.id}`, json: { confirm: point.snapshotAt } }
      await expectAnswer(catalog.service, { ...asked, credential: catalog.service.recoveryKey }, 204)
      const kept = files('*').length
      const lookLocked = () => withAgent(catalog.service, url, (agent) => agent.look(), undefined, locked)
      await lookLocked()
      const [told] = (await get('jobs')).items
      assert.deepEqual([told.kind, told.state], ['retention', 'completed'])
      assert.equal(files('*').length, kept)
      assert.deepEqual((await manifestsIn(room)).length, 2, 'it lies there still')
      assert.deepEqual((await points()).length, 1, 'and is shown to nobody')
      once = false
      await catalog.pass(2 * day)
      await lookLocked()
      assert.ok(files('*').length < kept)
      assert.deepEqual((await manifestsIn(room)).length, 1)
      await restored()
    })

    it('with a manifest that cannot be read loses nothing, and says that it is damaged', async () => {
      await taken()
      const [first] = await points()
      await writeFile(join(folder, `points/${crypto.randomUUID()}.json`), 'torn')
      await mkdir(join(folder, 'data/00'), { recursive: true })
      await writeFile(join(folder, `data/00/${'0'.repeat(64)}.blob`), 'named by it, for all we know')
      await catalog.pass(3 * day)
      await look()
      const [told] = (await get('jobs')).items
      assert.deepEqual([told.kind, told.state, told.errorCode], ['retention', 'failed', 'point_damaged'])
      assert.ok((await warnings()).includes('verify_failed'))
      assert.ok(files('blob').some((path) => path.includes('0'.repeat(64))))
      assert.deepEqual(
        (await points()).map(({ id }: { id: string }) => id),
        [first.id],
      )
      for (const path of globSync(join(folder, 'points/*.json')))
        if ((await readFile(path, 'utf8')) === 'torn') await rm(path)
      await catalog.pass(3 * day)
      await look()
      assert.ok(!(await warnings()).includes('verify_failed'))
      assert.ok(!files('blob').some((path) => path.includes('0'.repeat(64))))
    })

    it('that was replaced since says nothing of a point that was to be verified', async () => {
      await taken()
      const { id } = (await points())[newest]
      await post(`points/${id}/verify`)
      await rename(folder, `${folder}-away`)
      await mkdir(folder)
      await (await roomOf(url)).vault.create(toVaultName('vault.json'), otherVault())
      await look()
      const { items } = await get('jobs')
      const job = items.find(
        ({ kind, pointId }: { kind: string; pointId: string }) => kind === 'verify' && pointId === id,
      )
      assert.deepEqual([job.state, job.errorCode], ['failed', 'point_missing'])
      await rm(folder, { recursive: true })
      await rename(`${folder}-away`, folder)
      await catalog.pass(day)
      await look()
      assert.deepEqual([(await points())[newest].id, (await points())[newest].verifyError], [id, null])
    })

    it('that is slow has its point in the end, and nobody takes it for dead', async () => {
      const room = await roomOf(url)
      const clock = catalog.service.clock
      let others = 0
      const slow: Room = {
        ...room,
        vault: {
          ...room.vault,
          async write(...args) {
            // Longer than the lease, had it not been renewed.
            for (let second = 0; second < 60; second += 15) {
              clock.advance(15_000)
              const now = clock.now()
              await until(
                'it tells that it is there',
                async () => Date.parse((await get('status')).agent.lastSeenAt) >= now,
              )
            }
            await look()
            if ((await get('status')).running?.state === 'running') others += 1
            return await room.vault.write(...args)
          },
        },
      }
      const soon: Timers = { ...realTimers, after: (_, run) => realTimers.after(1, run) }
      await catalog.published('slowly')
      const job = await takePoint(catalog.service, url, undefined, slow, soon)
      assert.deepEqual([job.state, job.error_code], ['completed', null])
      assert.ok(others > 1, `${others} looks`)
      await restored()
    })

    it('is left alone by an agent whose place another one has had, also when that one has ended', async () => {
      await taken()
      await catalog.published(randomBytes(2_000_000))
      await catalog.pass(day)
      const room = await roomOf(url)
      let [writes, beats, frozen] = [0, 0, false]
      const waiting: (() => void)[] = []
      const timers: Timers = {
        ...realTimers,
        after(_, run) {
          beats += 1
          if (!frozen) return realTimers.after(1, run)
          waiting.push(run)
          return () => {}
        },
      }
      const slow: Room = {
        ...room,
        vault: {
          ...room.vault,
          async write(...args) {
            if (++writes === 1) {
              frozen = true
              await until('it is still', () => waiting.length > 0)
              catalog.service.clock.advance(minute)
              await look()
              const before = beats
              frozen = false
              for (const run of waiting) run()
              await until('it has tried to tell that it is there', () => beats > before)
            }
            return await room.vault.write(...args)
          },
        },
      }
      const job = await takePoint(catalog.service, url, undefined, slow, timers)
      assert.deepEqual([job.state, job.error_code], ['interrupted', 'agent_gone'])
      assert.equal((await points()).length, 1)
      assert.equal((await manifestsIn(room)).length, 1)
    })

    it('has a point written before it is read, whatever was asked for first', async () => {
      await taken()
      for (let asked = 0; asked < 3; asked++) await post(`points/${(await points())[newest].id}/verify`)
      await catalog.published('more')
      const room = await roomOf(url)
      const waiting: number[] = []
      const watched: Room = {
        ...room,
        vault: {
          ...room.vault,
          async create(...args) {
            const { items } = await get('jobs')
            waiting.push(items.filter(({ state }: { state: string }) => state === 'queued').length)
            return await room.vault.create(...args)
          },
        },
      }
      await taken(watched)
      assert.equal(waiting[0], 3)
    })

    it('gives a restore once more what its store has lost between two tries', async () => {
      await taken()
      const place = engine.use(await placeLike(catalog.service, engine))
      const dies = (point: string): void => {
        if (point === 'import.rows') throw new Error('as the test says')
      }
      await assert.rejects(restoreTo(place, url, 'latest', {}, dies), /as the test says/)
      const stored = globSync(join(place.dataDir, 'blobs/??/*'))
      assert.ok(stored.length > 0)
      for (const path of stored) await rm(path)
      const { findings } = await restoreTo(place, url)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
    })

    it('is asked for nothing while a state of the database is held, whose log would grow meanwhile', async () => {
      await taken()
      await catalog.published('new rows')
      const room = await roomOf(url)
      const [point] = await manifestsIn(room)
      assert.ok(point !== undefined)
      let [held, written] = [false, 0]
      const vault: Room['vault'] = {
        ...room.vault,
        async size(name) {
          assert.equal(held, false)
          return await room.vault.size(name)
        },
        async write(...args) {
          assert.equal(held, false)
          written += 1
          return await room.vault.write(...args)
        },
      }
      const rows = await withPartsOf(catalog.service, async ({ database, clock }) => {
        const watched = {
          engine: database.engine,
          async snapshot<T>(work: (q: Queries) => Promise<T>): Promise<T> {
            held = true
            return await database.snapshot(work).finally(() => {
              held = false
            })
          },
        }
        const known = { before: byData(chunksOf(point)), isDamaged: () => false, firstTry: () => 0 }
        const deps = { database: watched, clock, spool: spoolsIn(catalog.service.dataDir), reach: () => {} }
        return await captureRows(deps, { ...room, vault }, known, () => {})
      })
      const chunks = (tables: typeof rows.tables): number => tables.flatMap((table) => table.chunks).length
      assert.ok(written > 1 && written < chunks(rows.tables), `${written} of ${chunks(rows.tables)} chunks`)
      assert.equal(rows.tables.length, point.tables.length)
    })

    it('is left alone by an agent that could not renew its lease, whose place another may have', async () => {
      await taken()
      const copied = files('blob').length
      await catalog.published(randomBytes(2_000_000))
      await catalog.pass(day)
      const never: Timers = { ...realTimers, after: () => () => {} }
      const late = (point: string): void => {
        if (point === 'backup.table') catalog.service.clock.advance(minute)
      }
      const job = await takePoint(catalog.service, url, late, undefined, never)
      assert.deepEqual([job.state, job.error_code], ['interrupted', 'stopped'])
      assert.equal(files('blob').length, copied)
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

/** What says what another vault is called. */
const otherVault = (): Buffer =>
  Buffer.from(JSON.stringify({ format: 'svc-vault', formatVersion: 1, id: crypto.randomUUID() }))

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
