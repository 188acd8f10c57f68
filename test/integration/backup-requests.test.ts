import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import { pointName } from '../../src/features/operating/backups/layout.ts'
import { manifestText } from '../../src/features/operating/backups/manifest.ts'
import { enqueueBackup } from '../../src/features/operating/backups/requests.ts'
import { lookAtVault } from '../../src/features/operating/backups/vault-look.ts'
import type { JobView } from '../../src/features/operating/backups/vocabulary.ts'
import { openBackupRequestsMax } from '../../src/kernel/limits/backups.ts'
import { realTimers, type Timers } from '../../src/kernel/timers.ts'
import { day, minute } from '../../src/kernel/units.ts'
import { findPointFor, pointsOf } from '../../src/main/restoring.ts'
import { freshVault, manifestsIn, removeVault, roomOf, takePoint, withAgent } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { byEngine } from '../harness/kept-inline.ts'
import { withPartsOf } from '../harness/moving.ts'
import { inDatabase } from '../harness/rows.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

/** Timers by which an agent tells all the time that it is there, and looks whether it is to go on; `beat`: it did. */
const quickBeats = (): { readonly timers: Timers; readonly beat: () => Promise<unknown> } => {
  let beats = 0
  const after: Timers['after'] = (_, run) => {
    beats += 1
    return realTimers.after(1, run)
  }
  const beat = (): Promise<unknown> => {
    const before = beats
    return until('the agent tells that it is there', () => beats > before + 2)
  }
  return { timers: { ...realTimers, after }, beat }
}

forEachEngine((engine) => {
  describe('backups that are asked for', () => {
    let catalog: Catalog
    let vault: string
    before(async () => {
      vault = await freshVault(engine)
      catalog = await Catalog.open(engine, { ...byEngine(engine), SVC_BACKUP_VAULT: vault })
    })
    after(async () => {
      await catalog.close()
      await removeVault(vault)
    })

    const ask = (method: string, path: string, json?: object, key?: string) =>
      catalog.service.ask({
        method,
        path: `/api/v1/backup/${path}`,
        credential: catalog.service.recoveryKey,
        ...(json === undefined ? {} : { json }),
        ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
      })
    const get = async (path: string) => (await ask('GET', path)).json
    const look = () => withAgent(catalog.service, vault, (agent) => agent.look())
    const plan = { enabled: true, hour: 2, minute: 0, timezone: 'UTC', retention: { daily: 7, weekly: 4, monthly: 6 } }

    it('begin with a plan that is off, which is replaced as it was read', async () => {
      assert.deepEqual(await get('plan'), { ...plan, enabled: false, revision: 0 })
      const saved = await ask('PUT', 'plan', { ...plan, expectedRevision: 0, timezone: 'Europe/Berlin' })
      assert.deepEqual(saved.json, { ...plan, timezone: 'Europe/Berlin', revision: 1 })
      const late = await ask('PUT', 'plan', { ...plan, expectedRevision: 0 })
      assert.deepEqual([late.status, late.json.code], [409, 'revision_mismatch'])
      for (const [pointer, change] of [
        ['/timezone', { timezone: 'Mars/Olympus' }],
        ['/timezone', { timezone: '+02:00' }],
        ['/hour', { hour: 24 }],
        ['/minute', { minute: 60 }],
        ['/retention/daily', { retention: { ...plan.retention, daily: 367 } }],
        ['/retention/weekly', { retention: { ...plan.retention, weekly: 261 } }],
        ['/retention/monthly', { retention: { ...plan.retention, monthly: 121 } }],
        ['/enabled', { enabled: undefined }],
      ] as const) {
        const wrong = await ask('PUT', 'plan', { ...plan, expectedRevision: 1, ...change })
        assert.deepEqual([wrong.status, wrong.json.details[0].pointer], [400, pointer])
      }
    })

    it('wait while no agent is online, and are one job for each key', async () => {
      const { vault: found, agent, warnings, lastCompleted } = await get('status')
      assert.deepEqual([found.configured, found.available, agent.online, lastCompleted], [true, false, false, null])
      const codes = warnings.map(({ code }: { code: string }) => code)
      assert.deepEqual(codes, ['agent_offline', 'no_backup_yet'])
      const first = await ask('POST', 'runs', undefined, 'one')
      assert.deepEqual([first.status, first.json.kind, first.json.state], [202, 'capture', 'queued'])
      const again = await Promise.all(Array.from({ length: 8 }, () => ask('POST', 'runs', undefined, 'one')))
      for (const each of again) assert.deepEqual(each.json, first.json)
      const twin = await Promise.all(Array.from({ length: 8 }, () => ask('POST', 'runs', undefined, 'at-once')))
      assert.equal(new Set(twin.map(({ status, json }) => `${status} ${json.id}`)).size, 1)
      for (const key of [undefined, 'a b', 'x'.repeat(129)])
        assert.equal((await ask('POST', 'runs', undefined, key)).status, 400)
      await look()
      const later = await ask('POST', 'runs', undefined, 'one')
      assert.deepEqual([later.json.id, later.json.state], [first.json.id, 'completed'])
      const { progress } = (await get('jobs')).items.find(({ id }: { id: string }) => id === first.json.id)
      assert.deepEqual([progress.blobsCopied, progress.bytesCopied], [progress.blobsTotal, progress.bytesTotal])
      const { lastCompleted: point, agent: online } = await get('status')
      assert.deepEqual([progress.blobsTotal, progress.bytesTotal], [point.blobs, point.contentBytes])
      assert.deepEqual([point.id, point.verifyDepth, point.verifyError], [twin[0]?.json.id, 'structural', null])
      assert.equal(online.online, true)
      assert.ok(point.tables > 30 && point.rows > 10)
      catalog.service.clock.advance(2 * minute)
      assert.equal((await get('status')).agent.online, false)
    })

    it('are verified to the last byte, by a key that is of one point', async () => {
      const [point] = (await get('points')).items
      const asked = await ask('POST', `points/${point.id}/verify`, undefined, 'verify')
      assert.deepEqual([asked.status, asked.json.kind], [202, 'verify'])
      const other = await ask('POST', `points/${crypto.randomUUID()}/verify`, undefined, 'verify')
      assert.deepEqual([other.status, other.json.code], [409, 'idempotency_mismatch'])
      assert.equal((await ask('POST', `points/${crypto.randomUUID()}/verify`, undefined, 'none')).status, 404)
      assert.equal((await ask('PUT', `points/${crypto.randomUUID()}/pin`, { pinned: true })).status, 404)
      await look()
      const [verified] = (await get('points')).items
      assert.deepEqual([verified.verifyDepth, verified.verifyError], ['deep', null])
    })

    it('are read once for all who asked before, and what is asked for meanwhile comes first', async () => {
      const [point] = (await get('points')).items
      const keys = ['a', 'b', 'c']
      // Another day, so that the plan keeps it.
      catalog.service.clock.advance(day)
      await look()
      for (const key of keys) await ask('POST', `points/${point.id}/verify`, undefined, key)
      const room = await roomOf(vault)
      const states = async (): Promise<string[]> =>
        (await get('jobs?limit=5')).items.map(({ kind, state, errorCode }: JobView) => `${kind} ${errorCode ?? state}`)
      const opened: string[] = []
      let sealed: string[] = []
      const { timers, beat } = quickBeats()
      const watched: Room = {
        ...room,
        vault: {
          ...room.vault,
          async *open(name, range) {
            const isVerify = (await get('status')).running?.kind === 'verify'
            if (isVerify && name.includes('.rows') && opened.push(name) === 1) {
              await ask('POST', 'runs', undefined, 'meanwhile')
              await beat()
            }
            yield* room.vault.open(name, range)
          },
          async create(name, bytes) {
            if (name.startsWith('points/')) sealed = await states()
            return await room.vault.create(name, bytes)
          },
        },
      }
      await withAgent(catalog.service, vault, (agent) => agent.look(), undefined, watched, timers)
      assert.deepEqual(
        sealed.slice(1, 4),
        keys.map(() => 'verify queued'),
      )
      assert.deepEqual(await states(), [
        'retention completed',
        'capture completed',
        ...keys.map(() => 'verify completed'),
      ])
      assert.ok(opened.length > 10)
      assert.equal(new Set(opened).size, opened.length, 'nothing was read twice')
    })

    it('are taken by the plan each day, and read to the last byte within a week', async () => {
      for (let passed = 0; passed < 9; passed++) {
        catalog.service.clock.advance(day)
        await look()
      }
      await catalog.pass(0)
      const { items } = await get('points')
      assert.ok(items.length >= 7, `${items.length} points`)
      const deep = items.filter(({ verifyDepth }: { verifyDepth: string }) => verifyDepth === 'deep')
      assert.ok(deep.length >= 1)
      const { warnings, nextRunAt } = await get('status')
      // How full the disk of this machine is, is its own business.
      const codes = warnings.map(({ code }: { code: string }) => code)
      assert.deepEqual(
        codes.filter((code: string) => code !== 'vault_low_space'),
        [],
      )
      assert.ok(Date.parse(nextRunAt) > catalog.service.clock.now())
    })

    it('are listed newest first, page by page, each once', async () => {
      for (const list of ['jobs', 'points']) {
        const all = (await get(`${list}?limit=100`)).items.map(({ id }: { id: string }) => id)
        const paged: string[] = []
        for (let after = ''; ; ) {
          const { items, next } = await get(`${list}?limit=2${after}`)
          paged.push(...items.map(({ id }: { id: string }) => id))
          if (next === null) break
          assert.match(next, /^[0-9]{1,17}_[0-9a-f-]{36}$/)
          after = `&after=${next}`
        }
        assert.deepEqual(paged, all)
        assert.equal(new Set(paged).size, paged.length)
      }
    })

    it('say what is in a point: its tables, what each repository took, and each name in it', async () => {
      await catalog.expect({ method: 'PUT', path: '/raw/notes/read%20me.txt', body: 'of the past' }, 201)
      await look()
      const { id } = (await ask('POST', 'runs', undefined, 'contents')).json
      await look()
      const point = await get(`points/${id}`)
      assert.deepEqual([point.id, point.tableSizes.length], [id, point.tables])
      const rows = point.tableSizes.reduce((sum: number, table: { rows: number }) => sum + table.rows, 0)
      assert.equal(rows, point.rows)
      const one = point.repositories.find(({ repository }: { repository: string }) => repository === 'one')
      assert.ok(Number(one.publishedBytes) >= 'of the past'.length)
      const found = await get(`points/${id}/contents?repository=one&name=READ%20me`)
      assert.deepEqual(
        found.items.map(({ kind, name }: { kind: string; name: string }) => [kind, name]),
        [
          ['path', 'notes/read me.txt'],
          ['artifact', 'read me.txt'],
        ],
      )
      assert.equal(found.items[0].id, found.items[1].id)
      assert.deepEqual((await get(`points/${id}/contents?repository=two`)).items, [])
      const all = (await get(`points/${id}/contents?limit=100`)).items
      const paged: object[] = []
      for (let after = ''; ; ) {
        const { items, next } = await get(`points/${id}/contents?limit=1${after}`)
        paged.push(...items)
        if (next === null) break
        after = `&after=${next}`
      }
      assert.deepEqual(paged, all)
      for (const odd of ['99.0.0', '', 'zz', '%00', '-1.0.0', '0.0', '0.0.0%00', '99.9999999.99999', '9'.repeat(400)])
        assert.equal((await ask('GET', `points/${id}/contents?after=${odd}`)).status, 400, odd)
      for (const beyond of ['0.9999999.0', '0.0.99999', '3.1.1'])
        assert.ok([200, 400].includes((await ask('GET', `points/${id}/contents?after=${beyond}`)).status), beyond)
      assert.equal((await ask('GET', `points/${crypto.randomUUID()}/contents`)).status, 404)
    })

    it('give a point up that is not pinned, to whoever types its moment', async () => {
      const [point] = (await get('points')).items
      const path = `points/${point.id}`
      const confirmed = { confirm: point.snapshotAt }
      const wrong = await ask('DELETE', path, { confirm: '2020-01-01T00:00:00.000Z' })
      assert.deepEqual([wrong.status, wrong.json.details[0].pointer], [400, '/confirm'])
      await ask('PUT', `${path}/pin`, { pinned: true })
      const pinned = await ask('DELETE', path, confirmed)
      assert.deepEqual([pinned.status, pinned.json.code], [409, 'point_pinned'])
      await ask('PUT', `${path}/pin`, { pinned: false })
      assert.equal((await ask('DELETE', path, confirmed)).status, 204)
      for (const [method, of, json] of [
        ['GET', path, undefined],
        ['GET', `${path}/contents`, undefined],
        ['DELETE', path, confirmed],
        ['PUT', `${path}/pin`, { pinned: true }],
      ] as const)
        assert.equal((await ask(method, of, json)).status, 404)
      const shown = async () => (await get('points')).items.map(({ id }: { id: string }) => id)
      assert.ok(!(await shown()).includes(point.id))
      // A look at the vault, where it still lies, does not bring it back; then the agent takes it out.
      catalog.service.clock.advance(2 * minute)
      await look()
      assert.ok(!(await shown()).includes(point.id))
      const room = await roomOf(vault)
      assert.ok(!(await manifestsIn(room)).some(({ id }) => id === point.id))
    })

    it('are shown to nobody where they are of another vault, and told of in the log', async () => {
      const room = await roomOf(vault)
      const { digest: _, ...own } = await findPointFor(room, 'latest')
      const strange = { ...own, id: crypto.randomUUID(), vault: crypto.randomUUID() }
      const name = pointName(strange.id)
      await room.vault.create(name, Buffer.from(manifestText(strange)))
      const told: string[] = []
      const report = (message: string, error: unknown): void => void told.push(`${message}: ${error}`)
      await withPartsOf(catalog.service, (engines) =>
        lookAtVault({ ...engines, report, goOn: () => {} }, room, new Map()),
      )
      assert.equal(told.length, 1)
      assert.match(String(told[0]), new RegExp(`a point of another one.*${name} is of the vault ${strange.vault}`))
      assert.equal((await ask('GET', `points/${strange.id}`)).status, 404)
      assert.ok((await pointsOf(room)).points.some(({ id }) => id === strange.id))
      await room.vault.remove([name])
    })

    it('have what was given up taken out at once, however many it were', async () => {
      const given = (await get('points')).items.slice(-3)
      for (const { id, snapshotAt } of given) await ask('DELETE', `points/${id}`, { confirm: snapshotAt })
      const open = (await get('jobs?limit=3')).items.map(({ kind, state }: JobView) => `${kind} ${state}`)
      assert.deepEqual(open.slice(0, 2), ['retention queued', open[1]])
      assert.notEqual(open[1], 'retention queued')
      await look()
      const lying = (await manifestsIn(await roomOf(vault))).map(({ id }) => id)
      assert.ok(!given.some(({ id }: { id: string }) => lying.includes(id)))
    })

    for (const minutes of [11, -11])
      it(`have no point of an agent whose place another one takes whose clock is ${minutes} minutes ahead`, async () => {
        const { service } = catalog
        await catalog.expect({ method: 'PUT', path: `/raw/apart/${minutes}`, body: `new ${minutes}` }, 201)
        const clock = Object.create(service.clock, { now: { value: () => service.clock.now() + minutes * minute } })
        const room = await roomOf(vault)
        const { timers, beat } = quickBeats()
        let writes = 0
        const watched: Room = {
          ...room,
          vault: {
            ...room.vault,
            async write(...args) {
              if (++writes === 1) {
                await withAgent({ ...service, clock }, vault, (agent) => agent.look())
                await beat()
              }
              return await room.vault.write(...args)
            },
          },
        }
        const job = await takePoint(service, vault, undefined, watched, timers)
        assert.deepEqual([job.state, job.error_code], ['interrupted', 'agent_gone'])
        assert.ok(!(await manifestsIn(room)).some(({ id }) => id === job.id))
        assert.equal((await takePoint(service, vault)).state, 'completed')
      })

    it('tell the security audit of the plan, of pins and of points that were given up', async () => {
      const asked = { path: '/api/v1/security-audit', credential: catalog.service.recoveryKey }
      const { items } = (await catalog.service.ask(asked)).json
      const actions = items.map(({ action }: { action: string }) => action)
      const ofBackups = actions.filter((action: string) => action.startsWith('backup-'))
      assert.deepEqual(ofBackups, [
        'backup-plan.replace',
        'backup-point.pin',
        'backup-point.unpin',
        ...new Array(4).fill('backup-point.delete'),
      ])
    })

    it('are refused once too many are open, of those that somebody asked for', async () => {
      const rows = await inDatabase(catalog.service, async (q) => {
        await enqueueBackup(q, Date.now(), 'retention', null, null)
        return await q.selectFrom('backup_jobs').selectAll().where('finished_at', 'is', null).execute()
      })
      const open = rows.filter(({ requested_by }) => requested_by !== null)
      assert.ok(open.length < rows.length)
      for (let asked = open.length; asked < openBackupRequestsMax - 3; asked++)
        assert.equal((await ask('POST', 'runs', undefined, `many-${asked}`)).status, 202)
      const asked = Array.from({ length: 8 }, (_, index) => ask('POST', 'runs', undefined, `at-once-${index}`))
      const told = (await Promise.all(asked)).map(({ status }) => status)
      assert.deepEqual(told.sort(), [202, 202, 202, 507, 507, 507, 507, 507])
      const refused = await ask('POST', 'runs', undefined, 'too-many')
      assert.deepEqual([refused.status, refused.json.code], [507, 'queue_full'])
    })
  })
})
