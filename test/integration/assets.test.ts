import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { assetListingMax, expectedRevisionMax, revisionMax } from '../../src/kernel/limits/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const seed = 20_260_101
const nobody = '00000000-0000-7000-8000-000000000000'

interface Item {
  readonly path: string
  readonly revision: number
  readonly artifactId: string
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
const bytesStartWith = (text: string, prefix: string): boolean =>
  Buffer.from(text).subarray(0, Buffer.byteLength(prefix)).equals(Buffer.from(prefix))

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
  /** All pages, and how many there were. */
  const paged = async (
    repository: string,
    prefix: string,
    limit: number,
  ): Promise<{ paths: string[]; pages: number }> => {
    const paths: string[] = []
    let next: string | null = null
    for (let pages = 1; ; pages++) {
      const query: Record<string, string> = { prefix, limit: String(limit) }
      if (next !== null) query['after'] = next
      const told = await ask(repository, 'assets/page', query)
      assert.equal(told.status, 200, told.text)
      paths.push(...told.json.items.map(({ path }: Item) => path))
      next = told.json.next
      if (next === null) return { paths, pages }
      assert.match(next, /^[A-Za-z0-9_-]{1,8192}$/)
      assert.equal(told.json.items.length, limit)
    }
  }
  /** Puts paths past the service, all showing one file. */
  const insertPaths = (repository: string, paths: readonly string[]): Promise<void> =>
    inDatabase(service, async (q) => {
      for (let at = 0; at < paths.length; at += 100) {
        const rows = paths.slice(at, at + 100).map((path) => ({ repository, path, revision: 1, artifact_id: one }))
        await q.insertInto('assets').values(rows).execute()
        const history = rows.map((row) => ({ ...row, actor: 'test', created_at: '', source_revision: null }))
        await q.insertInto('asset_revisions').values(history).execute()
      }
    })
  const removePaths = (repository: string): Promise<void> =>
    inDatabase(service, async (q) => {
      await q.deleteFrom('assets').where('repository', '=', repository).execute()
      await q.deleteFrom('asset_revisions').where('repository', '=', repository).execute()
    })

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

  describe('GET /assets', () => {
    it('takes the prefix literally: % and _ are no wildcards, case and accents count', async () => {
      const repository = await freshRepository()
      const paths = [
        '100%/a',
        '100x/a',
        'a_b/c',
        'aXb/c',
        'Case/x',
        'case/x',
        'é/x',
        'e\u0301/x',
        '[ab]/x',
        '*/x',
        '?/x',
        "it's",
        '"q"',
        '日本/x',
        '😀/x',
      ]
      await insertPaths(repository, paths)
      assert.deepEqual(await listed(repository), paths.toSorted(byBytes))
      for (const prefix of [
        '100%',
        '%',
        '_',
        'a_',
        'a_b/',
        'C',
        'c',
        'é',
        'e',
        'e\u0301',
        '[',
        '*',
        '?',
        "it'",
        '"',
        '日',
        '😀',
        '😁',
        'x',
        'case/x',
        'case/xx',
        '',
      ])
        assert.deepEqual(
          await listed(repository, prefix),
          paths.filter((path) => bytesStartWith(path, prefix)).toSorted(byBytes),
          prefix,
        )
    })

    it('answers 1,000 matches and refuses 1,001 with a pointer to the prefix', async () => {
      const repository = await freshRepository()
      const paths = Array.from({ length: assetListingMax }, (_, index) => `many/${String(index).padStart(4, '0')}`)
      await insertPaths(repository, [...paths, 'other'])
      assert.deepEqual(await listed(repository, 'many/'), paths)
      await pointsAt(ask(repository, 'assets'), '/query/prefix')
      await insertPaths(repository, ['many/x'])
      await pointsAt(ask(repository, 'assets', { prefix: 'many/' }), '/query/prefix')
      assert.deepEqual((await paged(repository, '', 100)).paths, [...paths, 'many/x', 'other'])
      assert.equal((await listed(repository, 'many/00')).length, 100)
    })

    it('takes a prefix of up to 1,024 characters without control characters', async () => {
      for (const what of ['assets', 'assets/page']) {
        for (const prefix of ['p'.repeat(1024), '😀'.repeat(1024), '/', '..', 'a:', 'a\\'])
          assert.deepEqual((await ask('releases', what, { prefix })).json.items, [])
        for (const prefix of ['p'.repeat(1025), 'a\u0000', '\u0085'])
          await pointsAt(ask('releases', what, { prefix }), '/query/prefix')
        assert.equal((await ask('releases', what, { prefix: 'a', more: 'b' })).status, 400)
      }
      const twice = '/api/v1/repositories/releases/assets?prefix=a&prefix=b'
      assert.equal((await service.ask({ path: twice, credential: owner.token })).status, 400)
    })
  })

  describe('GET /assets/page', () => {
    /** Where UTF-8, UTF-16 and locales disagree about order, and where bytes of one character end another. */
    const awkward = fc.constantFrom(
      ...[
        'a',
        'B',
        'b',
        '_',
        '%',
        '-',
        '.x',
        ' ',
        '~',
        'é',
        'e\u0301',
        'ß',
        'ÿ',
        '\u00a0',
        '\u07ff',
        '\u0800',
        '\ud7ff',
      ],
      ...['\ue000', '\uffee', '\ufffd', '\uffff', '\u{10000}', '😀', '\u{10ffff}', '\u200d', '日', 'İ', 'ı', '/'],
    )
    const path = fc
      .array(awkward, { minLength: 1, maxLength: 5 })
      .map((parts) =>
        parts
          .join('')
          .replaceAll(/\/+/g, '/')
          .replaceAll(/^\/|\/$/g, ''),
      )
      .filter((text) => text !== '')

    it('goes through all paths of a prefix in the order of their UTF-8 bytes, without gaps or repeats', async () => {
      const repository = await freshRepository()
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(path, { minLength: 1, maxLength: 25 }),
          fc.array(awkward, { maxLength: 2 }).map((parts) => parts.join('')),
          fc.integer({ min: 1, max: 9 }),
          async (paths, random, limit) => {
            await removePaths(repository)
            await insertPaths(repository, paths)
            // A random prefix seldom matches; the beginning of a path always does.
            for (const prefix of [
              '',
              random,
              Array.from(paths[0] ?? '')
                .slice(0, 1)
                .join(''),
            ]) {
              const expected = paths.filter((each) => bytesStartWith(each, prefix)).toSorted(byBytes)
              const { paths: found, pages } = await paged(repository, prefix, limit)
              assert.deepEqual(found, expected)
              assert.equal(pages, Math.max(1, Math.ceil(expected.length / limit)))
              assert.deepEqual(await listed(repository, prefix), expected)
            }
          },
        ),
        { numRuns: 25, seed },
      )
    })

    it('has 1 to 100 items, 50 unless told', async () => {
      const repository = await freshRepository()
      await insertPaths(
        repository,
        Array.from({ length: 120 }, (_, index) => `p${index}`),
      )
      const items = async (query: Record<string, string>): Promise<number> =>
        (await ask(repository, 'assets/page', query)).json.items.length
      assert.equal(await items({}), 50)
      for (const limit of [1, 2, 99, 100]) assert.equal(await items({ limit: String(limit) }), limit)
      for (const limit of ['0', '101', '-1', '1.5', '', 'x', '1e1', ' 1', '0x1', '99999999999999999999'])
        await pointsAt(ask(repository, 'assets/page', { limit }), '/query/limit')
    })

    it('has a cursor for the longest path, and null after the last page, also when that is full', async () => {
      const repository = await freshRepository()
      const longest = ['\u{10ffff}'.repeat(1023), '\u{10ffff}'.repeat(1024)]
      await insertPaths(repository, longest)
      assert.deepEqual(await paged(repository, '', 1), { paths: longest, pages: 2 })
      assert.deepEqual(await paged(repository, '\u{10ffff}'.repeat(1024), 1), { paths: longest.slice(1), pages: 1 })
      assert.deepEqual(await paged(repository, '', 2), { paths: longest, pages: 1 })
    })

    it('goes on where it was although paths come and go', async () => {
      const repository = await freshRepository()
      await insertPaths(repository, ['b', 'd', 'f', 'h'])
      const first = await ask(repository, 'assets/page', { limit: '2' })
      assert.deepEqual(
        first.json.items.map((item: Item) => item.path),
        ['b', 'd'],
      )
      await removePaths(repository)
      await insertPaths(repository, ['a', 'c', 'e', 'h'])
      const second = await ask(repository, 'assets/page', { limit: '2', after: first.json.next })
      assert.deepEqual(
        second.json.items.map((item: Item) => item.path),
        ['e', 'h'],
      )
    })

    it('takes a cursor for its own repository and prefix only, and no garbage', async () => {
      const [here, there] = [await freshRepository(), await freshRepository()]
      for (const repository of [here, there]) await insertPaths(repository, ['p/1', 'p/2', 'p/3', 'q/1'])
      const { next } = (await ask(here, 'assets/page', { prefix: 'p/', limit: '1' })).json
      assert.equal((await ask(here, 'assets/page', { prefix: 'p/', after: next })).status, 200)
      const wrong: [string, string, string][] = [
        [there, 'p/', next],
        [here, '', next],
        [here, 'p', next],
        [here, 'p/1', next],
        [here, 'q/', next],
      ]
      const decoded = Buffer.from(next, 'base64url')
      const garbage = [
        '',
        'x',
        '!',
        'a+b',
        'a=',
        'a'.repeat(8192),
        'a'.repeat(8193),
        next.slice(0, 4),
        `A${next}`,
        Buffer.from('p/1').toString('base64url'),
        Buffer.concat([decoded.subarray(0, 12), Buffer.from('p//')]).toString('base64url'),
        Buffer.concat([decoded.subarray(0, 12), Buffer.from('q/1')]).toString('base64url'),
        Buffer.concat([decoded.subarray(0, 12), Buffer.from('a')]).toString('base64url'),
        Buffer.concat([decoded, Buffer.from([0xff])]).toString('base64url'),
        Buffer.concat([decoded, Buffer.from([0])]).toString('base64url'),
        decoded.subarray(0, 12).toString('base64url'),
      ]
      for (const after of garbage) wrong.push([here, 'p/', after])
      for (const [repository, prefix, after] of wrong)
        await pointsAt(ask(repository, 'assets/page', { prefix, after }), '/query/after')
    })
  })
})
