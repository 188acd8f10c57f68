import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { assetListingMax } from '../../src/kernel/limits/catalog.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createRepository, grant } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'

const seed = 20_260_101

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
  let catalog: Catalog
  /** A published file, which many paths show. */
  let one: string

  before(async () => {
    catalog = await Catalog.open(engine)
    one = await catalog.published()
  })
  after(() => catalog.close())

  let repositories = 0
  const freshRepository = async (): Promise<string> => {
    const id = `fresh-${++repositories}`
    await createRepository(catalog.service, id)
    await grant(catalog.service, catalog.writer, id, 'write')
    return id
  }
  const ask = (repository: string, what: string, query: Record<string, string> = {}): Promise<Told> =>
    catalog.service.ask({
      path: `/api/v1/repositories/${repository}/${what}?${new URLSearchParams(query)}`,
      credential: catalog.writer.token,
    })
  const pointsAt = async (told: Promise<Told>, pointer: string): Promise<void> => {
    const { status, json, text } = await told
    assert.deepEqual([status, json.code], [400, 'invalid_request'], text)
    assert.ok(
      json.details?.some((detail: { pointer: string }) => detail.pointer === pointer),
      text,
    )
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
    inDatabase(catalog.service, async (q) => {
      for (let at = 0; at < paths.length; at += 100) {
        const rows = paths.slice(at, at + 100).map((path) => ({ repository, path, revision: 1, artifact_id: one }))
        await q.insertInto('assets').values(rows).execute()
        const history = rows.map((row) => ({ ...row, actor: 'test', created_at: '', source_revision: null }))
        await q.insertInto('asset_revisions').values(history).execute()
      }
    })
  const removePaths = (repository: string): Promise<void> =>
    inDatabase(catalog.service, async (q) => {
      await q.deleteFrom('assets').where('repository', '=', repository).execute()
      await q.deleteFrom('asset_revisions').where('repository', '=', repository).execute()
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
          assert.deepEqual((await ask('one', what, { prefix })).json.items, [])
        for (const prefix of ['p'.repeat(1025), 'a\u0000', '\u0085'])
          await pointsAt(ask('one', what, { prefix }), '/query/prefix')
        assert.equal((await ask('one', what, { prefix: 'a', more: 'b' })).status, 400)
      }
      const twice = '/api/v1/repositories/one/assets?prefix=a&prefix=b'
      assert.equal((await catalog.service.ask({ path: twice, credential: catalog.writer.token })).status, 400)
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
