import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Value } from 'typebox/value'
import { GiB, hour } from '../../src/kernel/units.ts'
import { BatchAnswer, type BatchObject } from '../../src/protocols/lfs/vocabulary.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { newGitRemote, sitDownWithGit } from '../harness/git-desks.ts'
import { openInspection } from '../harness/inspection.ts'
import { isRefused, lfsSite, lfsType, newObject, setQuota } from '../harness/lfs.ts'
import { createPerson } from '../harness/people.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { everyRow, inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

const path = '/lfs/releases/objects/batch'

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, say, batch, push } = site
  const download = { operation: 'download', objects: [] }

  describe('whoever asks Git LFS', () => {
    it('without a credential is asked for one, in the words of the protocol', async () => {
      const told = await site.service.ask(say(path, download))
      isRefused(told, 401, /user name/)
      assert.match(String(told.headers['lfs-authenticate']), /^Basic realm="/)
      assert.equal(told.headers['www-authenticate'], told.headers['lfs-authenticate'])
    })

    it('by Basic with any user name, or by Bearer, is let in', async () => {
      const credential = site.owner.token
      for (const authorization of [
        `Basic ${Buffer.from(`anybody:${credential}`).toString('base64')}`,
        `basic ${Buffer.from(`:${credential}`).toString('base64')}`,
        `Bearer ${credential}`,
      ])
        assert.equal((await site.service.ask(say(path, download, { headers: { authorization } }))).status, 200)
    })

    it('by a wrong credential is asked again', async () => {
      isRefused(await site.service.ask(say(path, download, { credential: 'x'.repeat(40) })), 401, /token/)
    })

    it('may pull where it may read, and not push', async () => {
      const credential = site.reader.token
      assert.equal((await batch('download', [], {}, { credential })).status, 200)
      isRefused(await batch('upload', [newObject()], {}, { credential }), 403, /pull from .* and not push to it/)
    })

    it('hears nothing of a repository that it may not see', async () => {
      const { token } = await createPerson(site.service, 'stranger')
      isRefused(await batch('download', [], {}, { credential: token }), 404, /repository/)
      isRefused(await site.ask(say('/lfs/nowhere/objects/batch', download)), 404, /repository/)
    })

    it('may write anything behind the repository into the address', async () => {
      const object = await push(newObject().bytes)
      for (const below of ['', '/team/app', '/team/app.git/info/lfs', '/objects', '/locks', '/'])
        for (const operation of ['download', 'upload']) {
          const told = await expect(say(`/lfs/releases${below}/objects/batch`, { operation, objects: [object] }), 200)
          assert.equal(told.json.objects[0].oid, object.oid)
        }
    })

    it('is told in the words of the protocol what is not there', async () => {
      for (const [method, unknown, status] of [
        ['GET', '/lfs', 404],
        ['GET', '/lfs/releases', 404],
        ['POST', '/lfs/releases/nothing', 404],
        ['GET', path, 405],
        ['DELETE', path, 405],
      ] as const)
        isRefused(await site.ask({ method, path: unknown }), status, /./)
    })
  })

  describe('a batch', () => {
    const entry = async (operation: 'upload' | 'download', object: { oid: string; size: number }) => {
      const told = await batch(operation, [object])
      assert.equal(told.status, 200, told.text)
      assert.equal(told.json.objects.length, 1)
      return told.json.objects[0]
    }

    it('tells where stored objects are', async () => {
      const object = await push(newObject().bytes)
      const told = await entry('download', object)
      const { href, header, expires_in } = told.actions.download
      assert.equal(href, `${site.service.url}/lfs/releases/objects/${object.oid}/content`)
      assert.match(header.Authorization, /^Bearer dpp_/)
      assert.ok(Number.isInteger(expires_in) && expires_in >= 60)
      assert.deepEqual([told.oid, told.size, told.authenticated], [object.oid, object.size, true])
    })

    it('tells beside an object that it is not there, and of the others what there is', async () => {
      const there = await push(newObject().bytes)
      const missing = newObject()
      const told = await batch('download', [missing, there])
      assert.equal(told.status, 200)
      const [first, second] = told.json.objects
      assert.deepEqual([first.oid, first.error.code, first.actions], [missing.oid, 404, undefined])
      assert.deepEqual([second.oid, second.error], [there.oid, undefined])
    })

    it('tells where missing objects go, and nothing of those that are there', async () => {
      const object = newObject()
      const { actions } = await entry('upload', object)
      assert.ok(new URL(actions.upload.href).pathname.endsWith(`/${object.oid}/content`))
      await push(object.bytes)
      const { oid, size } = object
      assert.deepEqual(await entry('upload', object), { oid, size })
      for (const operation of ['upload', 'download'] as const)
        assert.equal((await entry(operation, { oid, size: size + 1 })).error.code, 422)
    })

    it('has large objects looked at when they came', async () => {
      const { verify } = (await entry('upload', { oid: 'a'.repeat(64), size: 5_000_000 })).actions
      assert.match(verify.href, /\/a{64}\/check$/)
    })

    it('refuses objects that are none, and not the others', async () => {
      const good = newObject()
      const bad = [
        { oid: 'abcdefg', size: 3 },
        { oid: `${good.oid}0`, size: 3 },
        { oid: `G${good.oid.slice(1)}`, size: 3 },
        { oid: `x${good.oid.slice(1)}`, size: 3 },
        { oid: 'A'.repeat(64), size: 3 },
        { oid: 'b'.repeat(64), size: -1 },
        { oid: 'c'.repeat(64), size: -125 },
        { oid: 'd'.repeat(64), size: 1.5 },
      ]
      for (const operation of ['upload', 'download'] as const) {
        const told = await batch(operation, [...bad, good])
        assert.equal(told.status, 200)
        const codes = told.json.objects.map((each: { error?: { code: number } }) => each.error?.code)
        assert.deepEqual(codes, [...bad.map(() => 422), operation === 'upload' ? undefined : 404])
      }
    })

    it('takes empty objects, no objects, and the same one twice', async () => {
      const empty = { oid: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', size: 0 }
      assert.ok((await entry('upload', empty)).actions.upload)
      await push(Buffer.alloc(0))
      assert.equal((await site.pull(empty)).byteLength, 0)
      assert.deepEqual((await batch('upload', [])).json.objects, [])
      const object = newObject()
      const told = await batch('upload', [object, object])
      assert.equal(told.json.objects.length, 2)
      for (const { actions } of told.json.objects) assert.ok(actions.upload)
    })

    it('takes as many objects as it says, and no more', async () => {
      const many = Array.from({ length: 1001 }, (_, at) => ({ oid: String(at).padStart(64, '0'), size: 1 }))
      assert.equal((await batch('upload', many.slice(0, 1000))).json.objects.length, 1000)
      isRefused(await batch('upload', many), 413, /at most 1000 objects/)
      isRefused(await site.ask(say(path, 'x'.repeat(3_000_000))), 413, /bytes/)
    })

    it('chooses a way of transfer that was offered', async () => {
      for (const transfers of [
        undefined,
        null,
        [],
        ['basic'],
        ['ssh', 'basic'],
        ['lfs-standalone-file', 'basic', 'ssh'],
      ])
        for (const operation of ['upload', 'download'] as const)
          assert.equal((await batch(operation, [newObject()], { transfers })).json.transfer, 'basic')
    })

    it('is about any branch, and by SHA-256 alone', async () => {
      for (const more of [
        { ref: null },
        {},
        { ref: { name: 'refs/heads/main' } },
        { hash_algo: 'sha256' },
        { hash_algo: null },
      ]) {
        const told = await batch('download', [], more)
        assert.deepEqual([told.status, told.json.hash_algo], [200, 'sha256'])
      }
      isRefused(await batch('download', [], { hash_algo: 'sha512' }), 409, /SHA-256/)
    })

    it('says what is wrong with a request that is none', async () => {
      for (const body of ['', '{', 'null', '[]', '{"objects":[]}', '{"operation":"checkout","objects":[]}'])
        isRefused(await site.ask(say(path, body)), 422, /./)
      for (const objects of [undefined, 'all', [1], [{ oid: 3, size: 3 }], [{ oid: 'a'.repeat(64) }]])
        isRefused(await site.ask(say(path, { operation: 'download', objects })), 422, /objects/)
    })

    it('is JSON, whatever the request says that it sends and takes', async () => {
      const body = JSON.stringify(download)
      for (const headers of [
        { 'content-type': lfsType },
        { 'content-type': `${lfsType.toUpperCase()};charset=UTF-8` },
        { 'content-type': 'application/json' },
        { accept: '*/*' },
        {},
      ]) {
        const told = await expect({ method: 'POST', path, body, headers }, 200)
        assert.equal(told.headers['content-type'], lfsType)
      }
    })

    it('is as the protocol has it, to the last field', async () => {
      const there = await push(newObject().bytes)
      for (const operation of ['upload', 'download'] as const) {
        const told = await batch(operation, [there, newObject(), newObject(2_000_000), { oid: 'x', size: -1 }])
        assert.ok(Value.Check(BatchAnswer, told.json), told.text)
      }
    })

    it('says that the quota does not suffice before anything is sent', async () => {
      await setQuota(site.service, 'second', 1000)
      const objects = [newObject(600), newObject(600), newObject(200)].map(({ oid, size }) => ({ oid, size }))
      const told = await expect(say('/lfs/second/objects/batch', { operation: 'upload', objects }), 200)
      const codes = told.json.objects.map((each: { error?: { code: number } }) => each.error?.code)
      assert.deepEqual(codes, [undefined, 507, undefined])
    })

    it('says that the server has no room, and not how much others have left of it', async () => {
      const size = 80 * GiB
      const many = Array.from({ length: 1000 }, (_, at) => ({ oid: String(at).padStart(64, '0'), size }))
      const refusals = async (): Promise<string[]> => {
        const told = await batch('upload', many)
        return told.json.objects.flatMap((each: BatchObject) => (each.error === undefined ? [] : [each.error]))
      }
      const before = await refusals()
      assert.deepEqual(before.at(-1), { code: 507, message: `The server has no room for it: it has ${size} bytes.` })
      await push(newObject(12_345).bytes)
      assert.deepEqual(await refusals(), before)
    })

    it('of more than anybody asks is refused before it is taken apart', async () => {
      const objects = (what: string, times: number): string =>
        `{"operation":"upload","objects":[${Array.from({ length: times }, () => what).join(',')}]}`
      const transfers = `{"operation":"upload","objects":[],"transfers":[${'"",'.repeat(600_000)}""]}`
      for (const body of [
        transfers,
        objects('{}', 600_000),
        objects('0', 900_000),
        objects('{"oid":"","size":0}', 90_000),
      ])
        isRefused(await site.ask(say(path, body)), 413, /at most 20000 brackets, commas and colons here.* 1000 objects/)
      isRefused(await site.ask(say(path, '['.repeat(1000))), 413, /20 levels/)
      isRefused(await site.ask(say(path, objects('0', 9_000))), 422, /not as the protocol has it/)
    })

    it('sends nothing long back that it does not know', async () => {
      const told = await batch('download', [], { hash_algo: 'x'.repeat(1_000_000) })
      isRefused(told, 409, /SHA-256/)
      assert.ok(told.text.length < 1_000)
    })

    it('has what the store lost sent again, and says that it did not come as long as it is lost', async () => {
      const inspection = await openInspection(site.service)
      try {
        for (const length of [300, 2_000_000]) {
          const object = newObject(length)
          await push(object.bytes)
          const loses = async (): Promise<void> => {
            await inDatabase(site.service, (q) =>
              q.deleteFrom('inline_bytes').where('sha256', '=', object.oid).execute(),
            )
            await inspection.store.delete(await inspection.nameOf(object.oid))
          }
          await loses()
          const check = `/lfs/releases/objects/${object.oid}/check`
          const verify = say(check, { oid: object.oid, size: object.size })
          isRefused(await site.ask(verify), 404, /no object/)
          await push(object.bytes)
          await expect(verify, 200)
          assert.ok((await site.pull(object)).equals(object.bytes))
        }
        await inspection.inOrder()
      } finally {
        await inspection.close()
      }
    })
  })

  describe('a batch asked of a read gateway', () => {
    it('leads to what may be pulled there by the same credential, writes nothing, and takes no push', async () => {
      const { bytes, ...object } = newObject()
      await push(bytes)
      const reader = await startService(engine, { on: site.service, roles: { gateway: 'reader', worker: false } })
      try {
        const credential = site.reader.token
        const asked = (operation: 'upload' | 'download', who: string | null) =>
          reader.ask(say(path, { operation, objects: [object] }, { credential: who }))
        site.service.clock.advance(2 * hour)
        const before = await everyRow(site.service)
        const told = await asked('download', credential)
        assert.equal(Value.Check(BatchAnswer, told.json), true, told.text)
        const [{ actions, authenticated }] = told.json.objects
        const href = `${reader.url}/lfs/releases/objects/${object.oid}/content`
        assert.deepEqual([actions, authenticated], [{ download: { href } }, undefined])
        const there = { path: new URL(href).pathname }
        isRefused(await reader.ask(there), 401, /user name/)
        assert.ok((await reader.ask({ ...there, credential })).bytes.equals(bytes))
        isRefused(await asked('download', null), 401, /user name/)
        isRefused(await asked('upload', site.owner.token), 405, /read gateway: push to/)
        isRefused(await asked('upload', credential), 403, /pull from/)
        assert.deepEqual(await everyRow(site.service), before)
      } finally {
        await reader.stop()
      }
    })

    it('is answered to git as it is there', async () => {
      const desk = await sitDownWithGit('reader')
      const reader = await startService(engine, { on: site.service, roles: { gateway: 'reader', worker: false } })
      for (const { url } of [site.service, reader]) await desk.keepPassword(url, site.owner.token)
      const remote = await newGitRemote(desk, 'game', `${site.service.url}/lfs/releases/game`)
      const folder = await desk.clone(remote, 'game')
      const { bytes } = newObject(5_000)
      await desk.commit(folder, { 'a.bin': bytes, 'b.bin': newObject(6_000).bytes })
      await desk.git(folder, 'push', '--quiet', 'origin', 'main')
      await rm(join(folder, '.git/lfs'), { recursive: true })
      await desk.git(folder, 'config', 'lfs.url', `${reader.url}/lfs/releases/game`)
      await desk.git(folder, 'lfs', 'fetch')
      assert.match(await desk.git(folder, 'lfs', 'fsck'), /fsck OK/)
      await desk.commit(folder, { 'c.bin': newObject(7_000).bytes })
      assert.match(await desk.fails(folder, 'lfs', 'push', 'origin', 'main'), /read gateway: push to/)
      await reader.stop()
      await desk[Symbol.asyncDispose]()
    })
  })

  describe('a batch asked through a proxy', () => {
    it('leads to the address that clients know the service by', async () => {
      const settings = { SVC_BASE_URL: 'https://files.example/svc' }
      const proxied = await startService(engine, {
        on: site.service,
        settings,
        roles: { gateway: 'api', worker: false },
      })
      try {
        const request = { operation: 'upload', objects: [{ oid: 'a'.repeat(64), size: 3 }] }
        const told = await proxied.ask(say(path, request, { credential: site.owner.token }))
        const { href } = told.json.objects[0].actions.upload
        assert.equal(href, `https://files.example/svc/lfs/releases/objects/${'a'.repeat(64)}/content?size=3`)
      } finally {
        await proxied.stop()
      }
    })
  })

  describe('a batch asked too often', () => {
    let small: TestService
    before(async () => {
      const settings = { SVC_REQUESTS_PER_SECOND: '2' }
      small = await startService(engine, { on: site.service, settings, roles: { gateway: 'api', worker: false } })
    })
    after(() => small.stop())

    const askOnce = (): Promise<Told> => small.ask(say(path, download, { credential: site.owner.token }))

    it('is told to wait', async () => {
      const told = await until('nothing is left', async () => {
        const answered = await askOnce()
        return answered.status !== 200 && answered
      })
      isRefused(told, 429, /./)
      assert.match(String(told.headers['retry-after']), /^[1-9][0-9]*$/)
    })

    it('by git is asked again after as long as it was told, and comes through', async () => {
      const trace = join(await mkdtemp(join(tmpdir(), 'svc-git-trace-')), 'trace')
      const desk = await sitDownWithGit('hurried', { GIT_TRACE: trace })
      await desk.keepPassword(small.url, site.owner.token)
      const folder = await desk.clone(await newGitRemote(desk, 'game', `${small.url}/lfs/releases/game`), 'game')
      await desk.commit(folder, { 'a.bin': newObject(5_000).bytes })
      // As long as it was told; left to itself it would wait for a quarter of a second, and then for half of one.
      const refused = async () =>
        /enqueue retry #[12] after (1\.00|0\.9\d)s .*batch response/.test(await readFile(trace, 'utf8'))
      /** Runs git, takes what is left until it is refused, and then lets it; false where it was quicker than we are. */
      const isRefusedAt = async (...args: string[]): Promise<boolean> => {
        await writeFile(trace, '')
        let ended = false
        const running = desk.git(folder, 'lfs', ...args).finally(() => {
          ended = true
        })
        while (!ended && !(await refused())) await askOnce()
        await running
        return refused()
      }
      await until('git was refused and pushed', () => isRefusedAt('push', '--all', 'origin'))
      await until('git was refused and fetched', async () => {
        await rm(join(folder, '.git/lfs/objects'), { recursive: true })
        return isRefusedAt('fetch')
      })
      assert.match(await desk.git(folder, 'lfs', 'fsck'), /fsck OK/)
      await desk[Symbol.asyncDispose]()
      await rm(dirname(trace), { recursive: true })
    })
  })
})
