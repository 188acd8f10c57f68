import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { queriesOf } from '../harness/query-plans.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

interface Hit {
  readonly repository: string
  readonly id: string
  readonly name: string
}

const many = 70

forEachEngine((engine) => {
  let service: TestService
  let writer: Person
  let reader: Person
  let stranger: Person
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    await createOwner(service)
    writer = await createPerson(service, 'writer')
    reader = await createPerson(service, 'reader')
    stranger = await createPerson(service, 'stranger')
    for (const [repository, files] of Object.entries({ alpha: 3, beta: 2, gamma: 1 })) {
      await createRepository(service, repository)
      await grant(service, writer, repository, 'write')
      for (let n = 0; n < files; n++) await publish(service, writer.token, repository, newFile(`common ${n}`, `${n}`))
    }
    await grant(service, reader, 'alpha', 'read')
    await grant(service, reader, 'gamma', 'read')
  })
  after(() => service.stop())

  const page = async (query: string, credential: string): Promise<{ items: Hit[]; next: string | null }> =>
    (await expectAnswer(service, { path: `/api/v1/search?${encodeURI(query)}`, credential }, 200)).json
  const found = ({ items }: { items: Hit[] }): string[] => items.map(({ repository, name }) => `${repository}: ${name}`)

  describe('a search of all repositories', () => {
    it('finds what the caller may see, one repository after another, and nothing else', async () => {
      const inAlpha = ['alpha: common 0', 'alpha: common 1', 'alpha: common 2']
      const seen = await page('q=COMMON', reader.token)
      assert.deepEqual([found(seen), seen.next], [[...inAlpha, 'gamma: common 0'], null])
      assert.deepEqual(found(await page('q=common&order=desc', reader.token)), [
        ...inAlpha.toReversed(),
        'gamma: common 0',
      ])
      assert.deepEqual(found(await page('q=common 1', writer.token)), ['alpha: common 1', 'beta: common 1'])
      const digest = newFile('any', '1').descriptor.sha256
      assert.deepEqual(found(await page(`sha256=${digest}`, reader.token)), ['alpha: common 1'])
      assert.deepEqual(await page('q=common', stranger.token), { items: [], next: null })
    })

    it('asks nothing of repositories that the caller may not see: to one who sees none, it costs the same with any', async () => {
      const asked = async (person: Person): Promise<number> =>
        (await queriesOf(() => page('q=common', person.token))).filter(({ sql }) =>
          /search_(?:index|entries)/.test(sql),
        ).length
      assert.equal(await asked(stranger), 0)
      assert.ok((await asked(reader)) < (await asked(writer)))
    })

    it('with a key shows what it may list, and by path only where it may read paths', async () => {
      const path = '/api/v1/repositories/alpha/raw/deep/down/file'
      await expectAnswer(service, { method: 'PUT', path, credential: writer.token, body: 'x' }, 201)
      const bindings = [
        binding('alpha', 'artifact.list'),
        binding('beta', 'artifact.list', 'asset.read'),
        binding('gamma', 'asset.read'),
      ]
      const account = await createServiceAccount(service, bindings)
      const { secret } = await activeKey(service, account.id, { bindings })
      assert.deepEqual(found(await page('q=common 0', secret)), ['alpha: common 0', 'beta: common 0'])
      assert.deepEqual(found(await page('path=down', secret)), [])
      assert.deepEqual(found(await page('path=down', reader.token)), ['alpha: file'])
      assert.deepEqual(found(await page('q=common 0&paths=true', secret)), ['beta: common 0'])
      await expectAnswer(service, { path: '/api/v1/search?q=x' }, 401, 'credential_missing')
    })

    it('goes on where it stood, through many repositories in which there is nothing, a bounded number a page', async () => {
      for (let n = 0; n < many; n++) {
        const repository = `m-${String(n).padStart(2, '0')}`
        await createRepository(service, repository)
        await grant(service, reader, repository, 'read')
      }
      await grant(service, writer, 'm-69', 'write')
      await publish(service, writer.token, 'm-69', newFile('needle', 'needle'))
      const first = await page('q=needle', reader.token)
      assert.deepEqual(first.items, [])
      assert.ok(first.next !== null)
      const second = await page(`q=needle&after=${first.next}`, reader.token)
      assert.deepEqual([found(second), second.next], [['m-69: needle'], null])
    })

    it('cuts pages in the middle of a repository, and refuses the cursor of another search, order or maker', async () => {
      for (let n = 0; n < 205; n++) await publish(service, writer.token, 'beta', newFile(`paged ${n}`, 'paged'))
      for (const order of ['asc', 'desc']) {
        const all: string[] = []
        for (let cursor = ''; ; ) {
          const { items, next } = await page(`q=paged&order=${order}${cursor}`, writer.token)
          all.push(...items.map(({ id }) => id))
          if (next === null) break
          cursor = `&after=${next}`
          for (const wrong of [`q=other&order=${order}`, `q=paged&order=${order === 'asc' ? 'desc' : 'asc'}`])
            await expectAnswer(
              service,
              { path: `/api/v1/search?${wrong}${cursor}`, credential: writer.token },
              400,
              'invalid_request',
            )
          // Who may no longer see the repository of a cursor goes on behind it.
          assert.deepEqual(found(await page(`q=paged&order=${order}${cursor}`, reader.token)), [])
        }
        assert.equal(new Set(all).size, 205)
        assert.deepEqual(all, order === 'asc' ? all.toSorted() : all.toSorted().reverse())
      }
      for (const wrong of ['after=x!', 'after=YWJj', 'order=up', 'metadataKey=k', 'limit=5', 'repository=alpha'])
        await expectAnswer(service, { path: `/api/v1/search?${wrong}`, credential: reader.token }, 400)
    })
  })
})
