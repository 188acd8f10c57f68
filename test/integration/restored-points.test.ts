import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { migrations } from '../../src/database/migrations/index.ts'
import { columnsOf, type Row } from '../../src/database/moving/rows.queries.ts'
import { rowOf, rowText } from '../../src/database/moving/rows.ts'
import { isTableName } from '../../src/database/moving/tables.ts'
import { ChunkWriter, linesOf } from '../../src/features/operating/backups/chunks.ts'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import { pointName } from '../../src/features/operating/backups/layout.ts'
import { type Manifest, type ManifestContent, manifestText } from '../../src/features/operating/backups/manifest.ts'
import { timestamp } from '../../src/kernel/clock.ts'
import { openEngines } from '../../src/main/engines.ts'
import { everyCheck } from '../../src/main/every-check.ts'
import { openLog } from '../../src/main/log.ts'
import { findPointFor, refuseNewerPoint, restoreFrom } from '../../src/main/restoring.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import { freshVault, removeVault, restoreTo, roomOf, takePoint } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { placeLike, withPartsOf } from '../harness/moving.ts'
import { createRepository } from '../harness/people.ts'
import { nodeFlags, runProgram, svcFile } from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

/** The schema in which svc took its first points. */
const oldestSchema = 43

onSqlite((engine) => {
  describe('a point that is restored', () => {
    let catalog: Catalog
    let vault: string
    let room: Room
    let point: Manifest
    let token: string
    let key: string
    let link: string
    let pass: string
    let kept: string
    const path = '/api/v1/repositories/one/raw/kept'

    before(async () => {
      vault = await freshVault(engine)
      catalog = await Catalog.open(engine)
      const { service, writer } = catalog
      const put = await catalog.expect({ method: 'PUT', path: '/raw/kept', body: 'kept' }, 201)
      kept = put.json.artifact.id
      const asked = { path: '/api/v1/auth/tokens', credential: writer.token, json: { name: 'one' } }
      token = (await expectAnswer(service, asked, 201)).json.token
      const bindings = [binding('one', 'content.read', 'asset.read')]
      key = (await activeKey(service, (await createServiceAccount(service, bindings)).id, { bindings })).secret
      const linked = await catalog.expect({ path: `/artifacts/${put.json.artifact.id}/links`, json: {} }, 201)
      const { pathname, search } = new URL(linked.json.url)
      link = pathname + search
      const asking = { path: '/v2/token', headers: { authorization: `Basic ${btoa(`writer:${token}`)}` } }
      pass = (await expectAnswer(service, asking, 200)).json.token
      await inDatabase(service, (q) =>
        q
          .insertInto('webhooks')
          .values({
            ...{ id: 'builds', repository: 'one', host: 'example.org', actions: null, named_at: '2026', lost: 0 },
            ...{ created_at: '2026', holder: 'a process of then', leased_until: '2099', last_success_at: null },
            ...{ failing_since: null, failures: 0, error_code: null, next_try_at: null },
          })
          .execute(),
      )
      assert.equal((await takePoint(service, vault)).state, 'completed')
      room = await roomOf(vault)
      point = await findPointFor(room, 'latest')
    })
    after(async () => {
      await catalog.close()
      await removeVault(vault)
    })

    for (const revokeAll of [false, true])
      it(`lets those in who could get in${revokeAll ? ', unless all is revoked: then passwords alone count' : ''}`, async () => {
        const place = engine.use(await placeLike(catalog.service, engine))
        await restoreTo(place, vault, 'latest', { revokeAll })
        const restored = await startService(engine, { on: place, roles: { gateway: 'api', worker: false } })
        for (const credential of [catalog.writer.token, token, key]) {
          const told = await restored.ask({ path, credential })
          assert.equal(told.status, revokeAll ? 401 : 200, told.text)
        }
        const opened = await restored.ask({ path: link })
        assert.equal(opened.status === 200, !revokeAll, opened.text)
        assert.equal((await restored.ask({ path: '/v2/', credential: pass })).status, revokeAll ? 401 : 200)
        const audit = { path: '/api/v1/security-audit', credential: restored.recoveryKey }
        const actions = (await restored.ask(audit)).json.items.map(({ action }: { action: string }) => action)
        assert.equal(actions.includes('access.revoke-all'), revokeAll)
        const signIn = { name: 'writer', password: 'correct horse battery staple' }
        const session = await restored.ask({ path: '/api/v1/auth/login', json: signIn })
        assert.equal((await restored.ask({ path, credential: session.json.token })).text, 'kept')
        await restored.stop()
      })

    it('begins a history in which no event has the id of one that was told, and followers hear where they are', async () => {
      const told = async (service: TestService, after: string) => {
        const asked = { path: `/api/v1/repositories/one/changes?after=${after}`, credential: catalog.writer.token }
        return (await expectAnswer(service, asked, 200)).json
      }
      const atPoint = (await told(catalog.service, '0')).head
      await catalog.expect({ method: 'PUT', path: '/raw/lost', body: 'lost' }, 201)
      const undone: string[] = (await told(catalog.service, atPoint)).items.map(({ id }: { id: string }) => id)
      assert.equal(undone.length, 2)
      const place = engine.use(await placeLike(catalog.service, engine))
      await restoreTo(place, vault)
      const held = await inDatabase(place, (q) => q.selectFrom('webhooks').select('holder').execute())
      assert.deepEqual(held, [{ holder: null }])
      const restored = await startService(engine, { on: place, roles: { gateway: 'api', worker: false } })
      const put = {
        method: 'PUT',
        path: '/api/v1/repositories/one/raw/new',
        body: 'new',
        credential: catalog.writer.token,
      }
      await expectAnswer(restored, put, 201)
      // Who had come as far as the point goes on.
      const anew = await told(restored, atPoint)
      assert.deepEqual(
        anew.items.map(({ action }: { action: string }) => action),
        ['artifact.publish', 'asset.replace'],
      )
      assert.ok(anew.items.every(({ id }: { id: string }) => !undone.includes(id)))
      for (const id of undone) {
        const path = `/api/v1/repositories/one/changes?after=${id.split(':')[1]}`
        const lost = await restored.ask({ path, credential: catalog.writer.token })
        assert.deepEqual([lost.status, lost.json.code], [409, 'cursor_lost'])
      }
      // A name that came to be after the point may have been told of as well.
      await createRepository(restored, 'later')
      const first = await inDatabase(place, (q) =>
        q.selectFrom('repositories').select('journal_head').where('id', '=', 'later').executeTakeFirstOrThrow(),
      )
      assert.ok(first.journal_head >= Number(anew.head) - anew.items.length)
      await restored.stop()
      await withPartsOf(place, async (engines) => {
        const findings = await Array.fromAsync(everyCheck(engines))
        assert.deepEqual(
          findings.filter(({ kind }) => kind === 'damage'),
          [],
        )
      })
    })

    it('is refused where it is of a newer schema than the program, with the version that can', () => {
      const newer = { ...point, schema: migrations.length + 1, program: '99.0.0' }
      assert.throws(() => refuseNewerPoint(newer), /svc 99\.0\.0 or newer/)
      assert.doesNotThrow(() => refuseNewerPoint(point))
    })

    /** The same point as a service of an older schema would have written it. */
    const asOf = async (schema: number): Promise<Manifest> => {
      const stack = new AsyncDisposableStack()
      const dataDir = await mkdtemp(join(tmpdir(), 'svc-old-'))
      stack.defer(() => rm(dataDir, { recursive: true }))
      try {
        const settings = readSettings({ SVC_DATA_DIR: dataDir, SVC_FREE_SPACE_RESERVE_BYTES: '0' })
        const { clock } = catalog.service
        const old = await openEngines(settings, await openLog('error'), { clock, reach: () => {} }, stack, { schema })
        const tables: ManifestContent['tables'] = []
        for (const { name, columns: now, chunks } of point.tables) {
          const columns = isTableName(name) ? await columnsOf(old.database.reader, old.database.engine, name) : []
          if (columns.length === 0) continue
          const writer = new ChunkWriter(
            room,
            { kind: 'rows', readers: 'operators' },
            { before: new Map(), isDamaged: () => false, firstTry: () => 0 },
          )
          let rows = 0
          for (const chunk of chunks)
            for (const line of await linesOf(room, chunk)) {
              const row = rowOf(line, now)
              await writer.add(rowText(Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))))
              rows += 1
            }
          await writer.end()
          tables.push({ name, columns, rows, chunks: writer.chunks })
        }
        const { digest: _, ...content } = point
        const id = crypto.randomUUID()
        const snapshotAt = timestamp(Date.parse(point.snapshotAt) - schema)
        await room.vault.create(
          pointName(id),
          Buffer.from(manifestText({ ...content, id, schema, tables, snapshotAt })),
        )
        return await findPointFor(room, id)
      } finally {
        await stack.disposeAsync()
      }
    }

    /** The same point where somebody who can write into the vault has changed rows of a table. */
    const craftedPoint = async (of: string, change: (row: Row) => Row): Promise<string> => {
      const tables: ManifestContent['tables'] = []
      for (const table of point.tables) {
        if (table.name !== of) {
          tables.push(table)
          continue
        }
        const form = { kind: 'rows', readers: 'operators' } as const
        const writer = new ChunkWriter(room, form, { before: new Map(), isDamaged: () => false, firstTry: () => 0 })
        for (const chunk of table.chunks)
          for (const line of await linesOf(room, chunk)) await writer.add(rowText(change(rowOf(line, table.columns))))
        await writer.end()
        tables.push({ ...table, chunks: writer.chunks })
      }
      const { digest: _, ...content } = point
      const id = crypto.randomUUID()
      await room.vault.create(pointName(id), Buffer.from(manifestText({ ...content, id, tables })))
      return id
    }
    /** What `svc restore file` says and leaves in the folder that it runs in. */
    const oneFile = async (id: string, ...what: string[]): Promise<{ told: string; left: string[] }> => {
      const folder = await mkdtemp(join(tmpdir(), 'svc-one-file-'))
      try {
        const args = [...nodeFlags, svcFile, 'restore', 'file', id, 'one', ...what]
        const options = { cwd: folder }
        const { code, stdout, stderr } = await runProgram(process.execPath, args, { SVC_BACKUP_VAULT: vault }, options)
        return { told: `${code} ${stdout}${stderr}`, left: await readdir(folder) }
      } finally {
        await rm(folder, { recursive: true })
      }
    }

    it('gives one file, which is no longer than its row says, under a name that can be read', async () => {
      const sound = await oneFile(point.id, 'kept')
      assert.match(sound.told, /^0 .*kept: 4 bytes/s)
      assert.deepEqual(sound.left, ['kept'])
      const longer = await craftedPoint('artifacts', (row) => ({ ...row, size: 3 }))
      for (const more of [[], ['--output', 'here'], ['--output', '-']]) {
        const told = await oneFile(longer, 'kept', ...more)
        assert.match(told.told, /^1 .*is longer than/s)
        assert.deepEqual(told.left, [])
      }
      const named = await craftedPoint('artifacts', (row) => ({ ...row, name: 'x\u001b]0;owned\u0007\u001b[2J' }))
      const byId = await oneFile(named, kept)
      assert.match(byId.told, /^0 /)
      assert.ok(!byId.told.includes('\u001b'), JSON.stringify(byId.told))
      assert.match(byId.left.join(), /^[0-9a-f]{64}$/)
    })

    it('of each older schema is brought to that of the program', async () => {
      for (let schema = oldestSchema; schema < migrations.length; schema++) {
        const older = await asOf(schema)
        const stack = new AsyncDisposableStack()
        const place = engine.use(await placeLike(catalog.service, engine))
        const settings = readSettings({ SVC_DATA_DIR: place.dataDir, SVC_FREE_SPACE_RESERVE_BYTES: '0' })
        const { clock } = catalog.service
        try {
          const engines = await openEngines(settings, await openLog('error'), { clock, reach: () => {} }, stack, {
            schema,
          })
          const { findings } = await restoreFrom(engines, room, older, { revokeAll: false }, { tell: () => {} })
          assert.deepEqual(
            findings.filter(({ kind }) => kind === 'damage'),
            [],
            String(schema),
          )
        } finally {
          await stack.disposeAsync()
        }
        const on = { ...place, databaseUrl: settings.databaseUrl, blobStoreUrl: '' }
        const restored = await startService(engine, { on, roles: { gateway: 'api', worker: false } })
        assert.equal((await restored.ask({ path, credential: catalog.writer.token })).text, 'kept')
        await restored.stop()
      }
    })
  })
})
