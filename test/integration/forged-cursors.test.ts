import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Operation } from '../../src/contract/operation.ts'
import { folderCursor, pathCursor } from '../../src/features/catalog/assets/cursor.ts'
import { cursorOf } from '../../src/features/catalog/packages/cursor.ts'
import { newId } from '../../src/kernel/ids.ts'
import { patterns } from '../../src/kernel/names.ts'
import { opaqueCursor } from '../../src/kernel/opaque-cursor.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { indexType, manifestOf, pusher } from '../harness/images.ts'
import { npmPublisher } from '../harness/npm-packages.ts'
import { cacheRichNpmPackages } from '../harness/rich-npm-upstream.ts'
import { createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

/** A list whose cursors say nothing of what is in them: how anybody may make one, and one that is as it should be. */
interface Forgery {
  readonly query: string
  /** Of what is asked about the file that is there. */
  readonly forge: (position: readonly string[], file: string) => string
  readonly right: readonly string[]
}

const id = newId(Date.now())
const digest = `sha256:${'0'.repeat(64)}`
const time = '2026-11-21T14:42:53.431Z'

const packagesOf = (groupKey: string | null) => ({
  query: groupKey === null ? '' : `group=${groupKey}&`,
  forge: ([group_key = '', name_key = '', version_key = '']: readonly string[]) =>
    cursorOf(
      { repository: 'one', order: 'group', descending: false, groupKey, nameKey: null },
      { group_key, name_key, version_key },
    ),
  right: ['a', 'b', 'c'],
})
const inOrder = (order: string, listing: readonly unknown[], right: readonly string[]): Forgery => ({
  ...{ query: `order=${order}&`, right },
  forge: (position) => opaqueCursor(listing, position),
})
const ofPaths = (forge: (position: string) => string, query = ''): Forgery => ({
  ...{ query, right: ['some/path'] },
  forge: (position) => forge(position.join('\n')),
})

const ofImages = (query: string, listing: readonly unknown[], right: readonly string[]): Forgery => ({
  ...{ query, right },
  forge: (position) => opaqueCursor(listing, position),
})

/** By the id of the operation. */
const forgeries: Readonly<Record<string, readonly Forgery[]>> = {
  searchEverywhere: ['asc', 'desc'].flatMap((order) => [
    inOrder(order, ['search', order, {}], ['one', id]),
    inOrder(order, ['search', order, {}], ['one', '']),
  ]),
  listDeletedArtifacts: ['asc', 'desc'].map((order) => inOrder(order, ['deleted', 'one', order], [time, id])),
  listDeletedLfsObjects: ['asc', 'desc'].map((order) =>
    inOrder(order, ['deleted-lfs-objects', 'one', order], [time, id]),
  ),
  listReferences: [
    {
      ...{ query: '', right: ['account:one', 'deploy:production'] },
      forge: (position, file) => opaqueCursor(['references', 'one', file], position),
    },
  ],
  listRemovedPaths: [{ ...inOrder('', ['removed', 'one', ''], ['some/path']), query: '' }],
  listAssetPage: [
    ofPaths((path) => pathCursor('one', '', path)),
    ofPaths((path) => folderCursor('one', '', path), 'delimiter=/&'),
  ],
  getRaw: [ofPaths((path) => folderCursor('one', 'some/', path))],
  listArtifactPaths: [ofPaths((path) => pathCursor('one', '', path))],
  listPackages: [packagesOf(null), packagesOf('a')],
  listRepositoryImages: [ofImages('', ['images', 'one', ''], ['some/image'])],
  listImageTags: [
    ofImages('', ['tags', 'one', 'some/image', 'name', ''], ['latest']),
    ofImages('order=newest&', ['tags', 'one', 'some/image', 'newest', ''], [time, 'latest']),
  ],
  listRemovedTags: [ofImages('', ['removed tags', 'one', 'some/image'], [time, 'latest'])],
  listImageReferrers: [ofImages('', ['referrers', 'one', 'some/image', digest, null], [digest])],
  listNpmPackages: [ofImages('', ['npm packages', 'one', ''], ['plain'])],
  listCachedNpmPackages: [ofImages('', ['cached npm packages', 'one', ''], ['plain'])],
  listCachedNpmVersions: [ofImages('', ['cached npm versions', 'one', '@outside/kept'], ['1.0.0'])],
  listNpmVersions: [ofImages('', ['npm versions', 'one', 'plain'], ['1'])],
  listDeletedNpmVersions: [ofImages('', ['deleted npm versions', 'one', 'plain'], ['1'])],
  listNpmStages: [
    {
      query: 'stage=tested&',
      right: ['plain', '1.0.0', 'tested'],
      forge: (position) => opaqueCursor(['stages of npm versions', 'one', 'tested', null, null], position),
    },
  ],
  listImageStages: [
    {
      query: 'stage=tested&',
      right: ['some/image', digest, 'tested'],
      forge: (position) => opaqueCursor(['stages of images', 'one', 'tested', null, null], position),
    },
  ],
}

/** What databases, or those who ask them, might stumble over. */
const odd = ['', '\0', 'zz', 'alpha\0', '..', 'x'.repeat(2_000), `${id}\0`, '9999-99-99T99:99:99.999Z']
const positions: readonly string[][] = odd
  .flatMap((one) => [
    [one],
    ...['one', id, time, 'a\nb'].flatMap((other) => [
      [one, other],
      [other, one],
    ]),
  ])
  .concat([
    ['', ''],
    ['one', id, id],
  ])

/** The same of lists whose cursors are what they show. */
const plain = [
  '',
  '\0',
  'zz',
  'desc.',
  'desc.x',
  `desc.${id}`,
  id,
  `${id}\0`,
  'key:',
  'account:\0',
  '999999999999999',
].concat('desc.999999999999999', 'ffffffff-ffff-ffff-ffff-ffffffffffff', `${id}/\0`, `${id}/tested`, 'zz:zz', "'", '-1')

/** What lists are about, where their query says so. */
const named = {
  repository: 'one',
  package: 'plain',
  version: '1.0.0',
  image: 'some/image',
  reference: 'latest',
  digest,
}

const isOpaque = (query: object): boolean => JSON.stringify(query).includes(JSON.stringify(patterns.opaqueCursor))
/** What is in a point of backups is listed where there is one: backup-requests.test.ts. */
const listings = catalogue().filter(({ id, query }) => 'after' in query.properties && id !== 'listBackupPointContents')

forEachEngine((engine) => {
  let catalog: Catalog
  let serviceAccount: string
  let ids: Readonly<Record<string, string>>
  before(async () => {
    catalog = await Catalog.open(engine)
    const account = await createServiceAccount(catalog.service, [])
    await catalog.expect({ method: 'PUT', path: '/raw/some/path', body: 'x' }, 201)
    const index = manifestOf({ manifests: [] }, indexType)
    const { pushManifest } = pusher((given, status) =>
      expectAnswer(catalog.service, { credential: catalog.writer.token, ...given }, status),
    )
    await pushManifest('one/some/image', index, 'latest')
    await npmPublisher(catalog.service, catalog.writer.token, 'one').publish({ name: 'plain', version: '1.0.0' })
    await cacheRichNpmPackages(catalog)
    ids = { repository: 'one', assetPath: 'some/', id: await catalog.published() }
    serviceAccount = account.id
  })
  after(() => catalog.close())

  /** Asks a list as somebody who may see it. */
  const asker = async ({ id: operation, path: template, query: asked }: Operation) => {
    const about = operation === 'listCachedNpmVersions' ? { ...named, package: '@outside/kept' } : named
    const first = Object.entries(about)
      .map(([name, value]) => (asked.required?.includes(name) === true ? `${name}=${value}&` : ''))
      .join('')
    const path = template
      .replace('service-accounts/{id}', `service-accounts/${serviceAccount}`)
      .replaceAll(/\{(\w+)\*?\}/g, (_, name: string) => ids[name] ?? assert.fail(`${operation}: ${name}`))
    const { service, writer, keeper } = catalog
    for (const credential of [writer.token, keeper, service.recoveryKey]) {
      const ask = async (query: string): Promise<number> =>
        (await service.ask({ path: `${path}?${first}${query}`, credential })).status
      if ((await ask('')) === 200) return ask
    }
    return assert.fail(`${operation}: nobody may`)
  }

  it('no list stumbles over a cursor that somebody made up: it answers, or says that this is none', async () => {
    const opaque = listings.filter(({ query }) => isOpaque(query)).map(({ id: operation }) => operation)
    assert.deepEqual(opaque.toSorted(), Object.keys(forgeries).toSorted())
    for (const operation of listings) {
      const ask = await asker(operation)
      for (const cursor of plain) {
        const status = await ask(`after=${encodeURIComponent(cursor)}`)
        assert.ok([200, 400, 409].includes(status), `${operation.id} after ${JSON.stringify(cursor)}: ${status}`)
      }
      const file = ids['id'] ?? ''
      for (const { query, forge, right } of forgeries[operation.id] ?? []) {
        assert.equal(
          await ask(`${query}after=${forge(right, file)}`),
          200,
          `${operation.id} ${query} after what it could tell`,
        )
        for (const position of positions) {
          const status = await ask(`${query}after=${forge(position, file)}`)
          const allowed = position.join('').includes('\0') ? [400] : [200, 400]
          assert.ok(allowed.includes(status), `${operation.id} ${query} after ${JSON.stringify(position)}: ${status}`)
        }
      }
    }
  })
})
