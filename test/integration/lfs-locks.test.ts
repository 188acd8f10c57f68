import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { locksPageBytes } from '../../src/kernel/limits/lfs.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { isRefused, lfsSite, linesOf } from '../harness/lfs.ts'
import { activeKey, binding, createServiceAccount, freshName } from '../harness/service-keys.ts'

after(closeConnections)

interface Lock {
  readonly id: string
  readonly path: string
  readonly locked_at: string
  readonly owner: { readonly name: string }
}

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })
  const { ask, say } = site

  /** Locks of a Git repository that nobody else has. */
  const fresh = () => {
    const base = `/lfs/releases/${freshName('git')}/locks`
    const as = (credential = site.owner.token) => ({ credential })
    const lock = (path: string, credential?: string) => ask(say(base, { path, ref: { name: 'main' } }, as(credential)))
    const locked = async (path: string, credential?: string): Promise<Lock> => {
      const told = await lock(path, credential)
      assert.equal(told.status, 201, told.text)
      return told.json.lock
    }
    const list = async (query = '', credential?: string) => {
      const told = await ask({ path: base + query, ...as(credential) })
      assert.equal(told.status, 200, told.text)
      return told.json
    }
    const verify = async (body: object = {}, credential?: string) => {
      const told = await ask(say(`${base}/verify`, body, as(credential)))
      assert.equal(told.status, 200, told.text)
      return told.json
    }
    const unlock = (id: string, body: object = {}, credential?: string): Promise<Told> =>
      ask(say(`${base}/${id}/unlock`, body, as(credential)))
    return { base, lock, locked, list, verify, unlock }
  }
  const pathsOf = (locks: readonly Lock[]): string[] => locks.map(({ path }) => path)

  describe('a lock', () => {
    it('is of the account that made it, and tells when', async () => {
      const { locked, list } = fresh()
      const lock = await locked('art/cover.psd')
      assert.deepEqual([lock.path, lock.owner.name], ['art/cover.psd', 'owner'])
      assert.match(lock.locked_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
      assert.equal(typeof lock.id, 'string')
      assert.deepEqual(await list(), { locks: [lock] })
    })

    it('of a service key has the name of its account', async () => {
      const rights = [binding('releases', 'asset.write', 'artifact.list')]
      const account = await createServiceAccount(site.service, rights)
      const { secret } = await activeKey(site.service, account.id, { bindings: rights })
      const { locked } = fresh()
      assert.equal((await locked('a', secret)).owner.name, account.name)
    })

    it('is there once, whoever asks again, and is told of then', async () => {
      const { lock, locked, list } = fresh()
      const there = await locked('art/cover.psd')
      for (const credential of [site.owner.token, site.other.token]) {
        const told = await lock('art/cover.psd', credential)
        assert.equal(told.status, 409)
        assert.deepEqual([told.json.lock, told.json.message], [there, 'already created lock'])
      }
      assert.equal((await list()).locks.length, 1)
      // Git knows paths by their bytes.
      await locked('art/Cover.psd')
    })

    it('is made by one of many who ask at once', async () => {
      const { lock, list } = fresh()
      const credentials = [site.owner.token, site.other.token, site.owner.token, site.other.token]
      const told = await Promise.all(credentials.map((credential) => lock('at once', credential)))
      assert.deepEqual(told.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
      assert.equal((await list()).locks.length, 1)
    })

    it('is of one Git repository', async () => {
      const [one, other] = [fresh(), fresh()]
      const lock = await one.locked('same')
      await other.locked('same')
      assert.deepEqual((await one.list()).locks, [lock])
      assert.equal((await other.unlock(lock.id)).status, 404)
      assert.deepEqual((await other.list(`?id=${lock.id}`)).locks, [])
    })

    it('belongs to the repository itself where nothing stands behind it', async () => {
      const made = await ask(say('/lfs/second/locks', { path: 'plain' }))
      assert.equal(made.status, 201, made.text)
      const { id } = made.json.lock
      assert.equal((await ask({ path: '/lfs/second/locks' })).json.locks[0].id, id)
      assert.equal((await ask(say('/lfs/second/locks/verify', {}))).json.ours[0].id, id)
      assert.equal((await ask(say(`/lfs/second/locks/${id}/unlock`, {}))).status, 200)
    })

    it('needs a path, and one that Git could have', async () => {
      const { base, lock } = fresh()
      for (const path of ['', '/art', 'a\u0000b', 'a\nb', 'x'.repeat(4097)]) isRefused(await lock(path), 422, /path/)
      for (const body of ['', '{}', '{"path":3}', 'no json']) isRefused(await ask(say(base, body)), 422, /./)
      assert.equal((await lock('x'.repeat(4096))).status, 201)
      assert.equal((await lock('ünï/çø∂é 😀.psd')).status, 201)
    })
  })

  describe('a list of locks', () => {
    it('begins with nothing, as a list', async () => {
      const { list, verify } = fresh()
      assert.deepEqual(await list(), { locks: [] })
      assert.deepEqual(await verify(), { ours: [], theirs: [] })
    })

    it('finds a path and an id, exactly', async () => {
      const { locked, list } = fresh()
      const [one] = [await locked('art/one'), await locked('art/one/more')]
      assert.deepEqual((await list('?path=art/one')).locks, [one])
      assert.deepEqual((await list('?path=art')).locks, [])
      assert.deepEqual((await list(`?id=${one.id}&refspec=refs/heads/main`)).locks, [one])
      assert.deepEqual((await list(`?id=${one.id}&path=other`)).locks, [])
      assert.deepEqual((await list('?id=unknown')).locks, [])
    })

    it('comes in pages, each lock once, also while others lock', async () => {
      const { locked, list } = fresh()
      for (const path of ['1', '2', '3', '4', '5']) await locked(path)
      const seen: string[] = []
      let page = await list('?limit=2')
      for (;;) {
        seen.push(...pathsOf(page.locks))
        if (page.next_cursor === undefined) break
        await locked(`meanwhile ${seen.length}`)
        page = await list(`?limit=2&cursor=${page.next_cursor}`)
      }
      assert.deepEqual(seen, ['5', '4', '3', '2', '1'])
    })

    it('comes in pages as long as somebody asks for, and in shorter ones where paths are long', async () => {
      const { base, locked, list, verify } = fresh()
      const short = Array.from({ length: 110 }, (_, at) => `${at}`)
      for (const path of short) await locked(path)
      assert.deepEqual(pathsOf((await list('?limit=105')).locks), short.toReversed().slice(0, 105))
      assert.deepEqual(pathsOf((await list('?limit=1000')).locks), short.toReversed())
      const long = Array.from({ length: 50 }, (_, at) => `${at}/${'ü€'.repeat(2_000)}`)
      for (const path of long) await locked(path)
      const seen: string[] = []
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const told = await ask(say(`${base}/verify`, { limit: 1000, ...(cursor === undefined ? {} : { cursor }) }))
        assert.ok(told.bytes.byteLength < locksPageBytes + 200 * 200, `${told.bytes.byteLength} bytes`)
        const page = told.json
        assert.ok(page.ours.length > 0)
        seen.push(...pathsOf(page.ours))
        cursor = page.next_cursor
      }
      assert.deepEqual(seen, [...short, ...long].toReversed())
      assert.ok((await verify({ limit: 1000 })).ours.length < long.length)
    })

    it('passes over a limit that is none, and refuses a cursor that is none', async () => {
      const { base, locked, list } = fresh()
      await locked('a')
      for (const limit of ['0', '-1', 'many', '99999999999'])
        assert.equal((await list(`?limit=${limit}`)).locks.length, 1)
      isRefused(await ask({ path: `${base}?cursor=nowhere` }), 422, /cursor/)
    })

    it('tells the own ones from those of others, in pages', async () => {
      const { locked, verify } = fresh()
      for (const path of ['a', 'b']) await locked(path)
      for (const path of ['c', 'd']) await locked(path, site.other.token)
      const { ours, theirs } = await verify({ ref: { name: 'main' } })
      assert.deepEqual(
        [pathsOf(ours), pathsOf(theirs)],
        [
          ['b', 'a'],
          ['d', 'c'],
        ],
      )
      const first = await verify({ limit: 3 })
      const second = await verify({ limit: 3, cursor: first.next_cursor })
      assert.deepEqual([pathsOf(first.ours), pathsOf(first.theirs)], [['b'], ['d', 'c']])
      assert.deepEqual([pathsOf(second.ours), pathsOf(second.theirs), second.next_cursor], [['a'], [], undefined])
    })
  })

  describe('unlocking', () => {
    it('is for who locked, and done once', async () => {
      const { locked, list, unlock } = fresh()
      const lock = await locked('a')
      const told = await unlock(lock.id)
      assert.deepEqual([told.status, told.json], [200, { lock }])
      assert.deepEqual((await list()).locks, [])
      isRefused(await unlock(lock.id), 404, /no such lock/)
      await locked('a', site.other.token)
    })

    it('is for others where they say that they mean it', async () => {
      const { locked, unlock } = fresh()
      const { id } = await locked('a', site.other.token)
      for (const body of [{}, { force: false }, { force: null }])
        isRefused(await unlock(id, body), 403, /a has been locked by other since .*--force/)
      assert.equal((await unlock(id, { force: true })).status, 200)
    })

    it('of nothing is refused', async () => {
      const { unlock } = fresh()
      for (const id of ['nothing', '01a1fe8f-6777-7329-9d3f-237dcd12a10a']) isRefused(await unlock(id), 404, /lock/)
    })
  })

  it('stand in the journal, forced ones as what they are', async () => {
    const { locked, unlock } = fresh()
    const before = (await linesOf(site.service, 'releases')).length
    const [own, others] = [await locked('own'), await locked('others', site.other.token)]
    await unlock(own.id)
    await unlock(others.id, { force: true })
    const lines = (await linesOf(site.service, 'releases')).slice(before)
    assert.deepEqual(
      lines.map(({ action, detail }) => [action, String(detail).split(':')[1]]),
      [
        ['lock.create', 'own'],
        ['lock.create', 'others'],
        ['lock.remove', 'own'],
        ['lock.break', 'others'],
      ],
    )
  })

  it('are read by who may read, and made by who may write', async () => {
    const { base, lock, locked, list, unlock } = fresh()
    const { id } = await locked('a')
    const credential = site.reader.token
    assert.equal((await list('', credential)).locks.length, 1)
    for (const told of [
      await lock('b', credential),
      await unlock(id, { force: true }, credential),
      await ask(say(`${base}/verify`, {}, { credential })),
    ])
      isRefused(told, 403, /asset.write/)
  })

  it('are off where the repository says so, and come back as they were', async () => {
    const path = '/api/v1/repositories/second/lfs/settings'
    const rights = [binding('second', 'storage.manage')]
    const account = await createServiceAccount(site.service, rights)
    const { secret: credential } = await activeKey(site.service, account.id, { bindings: rights })
    const save = (expectedRevision: number, locking: boolean) =>
      ask({ method: 'PUT', path, credential, json: { expectedRevision, locking } })
    assert.deepEqual((await ask({ path })).json, { revision: 0, locking: true, savedAt: null, actor: null })
    const base = '/lfs/second/app/locks'
    const { lock } = (await ask(say(base, { path: 'kept' }))).json
    assert.equal((await save(0, false)).json.locking, false)
    assert.equal((await save(0, true)).status, 409)
    for (const told of [
      await ask({ path: base }),
      await ask(say(base, { path: 'new' })),
      await ask(say(`${base}/verify`, {})),
      await ask(say(`${base}/${lock.id}/unlock`, {})),
    ])
      isRefused(told, 404, /Locks are switched off/)
    assert.equal((await save(1, true)).json.revision, 2)
    assert.deepEqual((await ask({ path: base })).json.locks, [lock])
  })
})
