import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { expectedRevisionMax, revisionMax } from '../../src/kernel/limits/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const nobody = '00000000-0000-7000-8000-000000000000'

interface Item {
  readonly path: string
  readonly revision: number
  readonly artifactId: string
}

after(closeConnections)

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  /** Two published files of `releases`. */
  let one: string
  let two: string

  let repositories = 0
  const freshRepository = async (): Promise<string> => {
    const id = `fresh-${++repositories}`
    await createRepository(service, id)
    await grant(service, owner, id, 'write')
    return id
  }
  const publish = async (repository: string, path: string, body: string): Promise<string> => {
    const told = await service.ask({
      method: 'PUT',
      path: `/api/v1/repositories/${repository}/raw/${path}`,
      credential: owner.token,
      body,
    })
    assert.equal(told.status, 201, told.text)
    return told.json.artifact.id
  }

  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    owner = await createOwner(service)
    one = await publish('releases', 'seed/one', 'one')
    two = await publish('releases', 'seed/two', 'two')
  })
  after(() => service.stop())

  const ask = (repository: string, what: string, query: Record<string, string> = {}): Promise<Told> =>
    service.ask({
      path: `/api/v1/repositories/${repository}/${what}?${new URLSearchParams(query)}`,
      credential: owner.token,
    })
  const putAsset = (json: unknown, repository = 'releases'): Promise<Told> =>
    service.ask({ method: 'PUT', path: `/api/v1/repositories/${repository}/asset`, credential: owner.token, json })
  const refused = async (told: Promise<Told>, status: number, code: string): Promise<Told> => {
    const answer = await told
    assert.deepEqual([answer.status, answer.json.code], [status, code], answer.text)
    return answer
  }
  const listed = async (repository: string, prefix?: string): Promise<string[]> => {
    const told = await ask(repository, 'assets', prefix === undefined ? {} : { prefix })
    assert.equal(told.status, 200, told.text)
    return told.json.items.map(({ path }: Item) => path)
  }

  describe('PUT /asset', () => {
    it('creates with 0, replaces with the current revision, and is 409 for every other', async () => {
      const path = 'swap/a.txt'
      await refused(putAsset({ path, artifactId: one, expectedRevision: 1 }), 409, 'revision_mismatch')
      const created = await putAsset({ path, artifactId: one, expectedRevision: 0 })
      assert.deepEqual([created.status, created.json], [200, { path, revision: 1, artifactId: one }])
      for (const expectedRevision of [0, 2, 3, expectedRevisionMax])
        await refused(putAsset({ path, artifactId: two, expectedRevision }), 409, 'revision_mismatch')
      const replaced = await putAsset({ path, artifactId: two, expectedRevision: 1 })
      assert.deepEqual(replaced.json, { path, revision: 2, artifactId: two })
      await refused(putAsset({ path, artifactId: two, expectedRevision: 1 }), 409, 'revision_mismatch')
      const same = await putAsset({ path, artifactId: two, expectedRevision: 2 })
      assert.deepEqual(same.json, { path, revision: 3, artifactId: two })
      assert.deepEqual((await ask('releases', 'asset', { path })).json, same.json)
    })

    it('reaches the last revision and none after it', async () => {
      const path = 'swap/last.txt'
      await putAsset({ path, artifactId: one, expectedRevision: 0 })
      await inDatabase(service, async (q) => {
        for (const table of ['assets', 'asset_revisions'] as const)
          await q.updateTable(table).set({ revision: expectedRevisionMax }).where('path', '=', path).execute()
      })
      const last = await putAsset({ path, artifactId: two, expectedRevision: expectedRevisionMax })
      assert.deepEqual([last.status, last.json.revision], [200, revisionMax])
      await refused(
        putAsset({ path, artifactId: two, expectedRevision: expectedRevisionMax }),
        409,
        'revision_mismatch',
      )
      await refused(putAsset({ path, artifactId: two, expectedRevision: revisionMax }), 400, 'invalid_request')
    })

    it('lets one of many writers win each revision', async () => {
      const path = 'swap/contested.txt'
      for (let expectedRevision = 0; expectedRevision < 4; expectedRevision++) {
        const told = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            putAsset({ path, artifactId: index % 2 === 0 ? one : two, expectedRevision }),
          ),
        )
        assert.deepEqual(told.map(({ status }) => status).sort(), [200, ...Array.from({ length: 11 }, () => 409)])
      }
      assert.equal((await ask('releases', 'asset', { path })).json.revision, 4)
    })

    it('takes only published files of the same repository: others are 404', async () => {
      const elsewhere = await freshRepository()
      const foreign = await publish(elsewhere, 'a', 'foreign')
      const pending = await service.ask({
        path: '/api/v1/repositories/releases/uploads',
        credential: owner.token,
        headers: { 'idempotency-key': 'pending' },
        json: { name: 'pending', size: '1', sha256: digestOf('p') },
      })
      assert.equal(pending.status, 201)
      for (const artifactId of [foreign, pending.json.id, nobody])
        await refused(putAsset({ path: 'swap/b.txt', artifactId, expectedRevision: 0 }), 404, 'not_found')
      const cancelled = `/api/v1/repositories/releases/uploads/${pending.json.id}`
      await service.ask({ method: 'DELETE', path: cancelled, credential: owner.token })
      await refused(
        putAsset({ path: 'swap/b.txt', artifactId: pending.json.id, expectedRevision: 0 }),
        404,
        'not_found',
      )
      await refused(ask('releases', 'asset', { path: 'swap/b.txt' }), 404, 'not_found')
      assert.deepEqual(await listed(elsewhere), ['a'])
    })

    it('points at each field that is wrong', async () => {
      const good = { path: 'a', artifactId: one, expectedRevision: 0 }
      for (const path of [
        '',
        '.',
        '..',
        'a//b',
        '/a',
        'a/',
        'a/../b',
        'a\\b',
        'a:b',
        'a\u0000',
        'a\u0085',
        '\ud800',
        'a'.repeat(1025),
        1,
        null,
      ])
        await pointsAt(putAsset({ ...good, path }), '/path')
      for (const artifactId of ['', 'x', `${one}0`, null, 1])
        await pointsAt(putAsset({ ...good, artifactId }), '/artifactId')
      for (const expectedRevision of [-1, 0.5, '0', null, revisionMax])
        await pointsAt(putAsset({ ...good, expectedRevision }), '/expectedRevision')
      assert.equal((await putAsset({ ...good, more: 1 })).status, 400)
      for (const field of Object.keys(good)) assert.equal((await putAsset({ ...good, [field]: undefined })).status, 400)
    })
  })

  const pointsAt = async (told: Promise<Told>, pointer: string): Promise<void> => {
    const { json } = await refused(told, 400, 'invalid_request')
    assert.ok(
      json.details?.some((detail: { pointer: string }) => detail.pointer === pointer),
      JSON.stringify(json),
    )
  }

  describe('GET /asset and /asset/content', () => {
    it('resolve the path on every request', async () => {
      const path = 'read/ä b+c%.txt'
      await putAsset({ path, artifactId: one, expectedRevision: 0 })
      assert.deepEqual((await ask('releases', 'asset', { path })).json, { path, revision: 1, artifactId: one })
      const first = await ask('releases', 'asset/content', { path })
      assert.deepEqual([first.status, first.text, first.headers['x-svc-artifact-id']], [200, 'one', one])
      await putAsset({ path, artifactId: two, expectedRevision: 1 })
      const second = await ask('releases', 'asset/content', { path })
      assert.deepEqual([second.text, second.headers['x-svc-artifact-id']], ['two', two])
      assert.equal(second.headers.etag, `"sha256:${digestOf('two')}"`)
      const url = `/api/v1/repositories/releases/asset/content?${new URLSearchParams({ path })}`
      const part = await service.ask({ path: url, credential: owner.token, headers: { range: 'bytes=1-1' } })
      assert.deepEqual([part.status, part.text], [206, 'w'])
      const head = await service.ask({ method: 'HEAD', path: url, credential: owner.token })
      assert.deepEqual([head.status, head.headers['content-length']], [200, '3'])
    })

    it('are 404 for an unknown path and 400 with a pointer for what is none', async () => {
      for (const what of ['asset', 'asset/content']) {
        await refused(ask('releases', what, { path: 'seed' }), 404, 'not_found')
        await refused(ask('releases', what, { path: 'SEED/one' }), 404, 'not_found')
        for (const path of ['', '..', 'a//b', 'a:b', 'a\\b', '\u0001', 'x'.repeat(1025)])
          await pointsAt(ask('releases', what, { path }), '/query/path')
        assert.equal((await ask('releases', what)).status, 400)
        assert.equal((await ask('releases', what, { path: 'a', more: 'b' })).status, 400)
      }
    })
  })
})
