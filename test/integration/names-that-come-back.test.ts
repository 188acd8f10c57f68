import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { pusher } from '../harness/images.ts'
import { createRepository } from '../harness/people.ts'
import { newFile, openUpload, publish } from '../harness/publishing.ts'
import { activeKey, binding, createServiceAccount, freshName, issueRequest } from '../harness/service-keys.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('a repository with the id of a deleted one', () => {
    let catalog: Catalog
    before(async () => {
      catalog = await Catalog.open(engine)
    })
    after(() => catalog?.close())

    const expect = (method: string, path: string, status: number, json?: unknown, credential?: string): Promise<Told> =>
      expectAnswer(
        catalog.service,
        {
          method,
          path: `/api/v1${path}`,
          credential: credential ?? catalog.service.recoveryKey,
          ...(json === undefined ? {} : { json }),
        },
        status,
      )
    const at = (repository: string, path = ''): string => `/repositories/${repository}${path}`
    const again = async (repository: string): Promise<void> => {
      await expect('DELETE', at(repository), 204)
      await createRepository(catalog.service, repository)
    }
    const fresh = async (): Promise<string> => {
      const repository = freshName('again')
      await createRepository(catalog.service, repository)
      return repository
    }
    const letWriterIn = async (repository: string): Promise<void> => {
      const group = (await expect('POST', '/access-groups', 201, { name: freshName('writers') })).json.id
      await expect('PUT', `/access-groups/${group}/members/${catalog.writer.id}`, 204)
      await expect('PUT', `/access-groups/${group}/grants/${repository}`, 204, { access: 'write' })
    }
    const everyday = [
      'repository.read',
      'audit.read',
      'artifact.list',
      'artifact.read',
      'storage.read',
      'diagnostics.read',
    ] as const
    const keyTo = async (repository: string) => {
      const bindings = [binding(repository, ...everyday, 'artifact.delete')]
      const account = await createServiceAccount(catalog.service, bindings)
      return { ...(await activeKey(catalog.service, account.id, { bindings })), account: account.id, bindings }
    }
    const see = async (repository: string, secret: string, status: number): Promise<void> => {
      await expect('GET', at(repository), status, undefined, secret)
      const { items } = (await expect('GET', '/repositories', 200, undefined, secret)).json
      assert.deepEqual(
        items.map(({ id }: { id: string }) => id),
        status === 200 ? [repository] : [],
      )
    }

    it('is nothing to the keys of the old one, nor shown in their bindings', async () => {
      const repository = await fresh()
      const { secret, account, id } = await keyTo(repository)
      await see(repository, secret, 200)
      await again(repository)
      await see(repository, secret, 404)
      for (const path of [`/service-accounts/${account}`, `/service-accounts/${account}/policy`, `/api-keys/${id}`])
        assert.deepEqual((await expect('GET', path, 200)).json.bindings, [], path)
      assert.deepEqual((await expect('GET', `/service-accounts/${account}/keys`, 200)).json.items[0].bindings, [])
      const { items } = (await expect('GET', '/service-accounts', 200)).json
      assert.deepEqual(items.find((each: { id: string }) => each.id === account).bindings, [])
    })

    it('is opened to new keys alone when a policy names it anew', async () => {
      const repository = await fresh()
      const { secret, account, bindings } = await keyTo(repository)
      await again(repository)
      const refused = await catalog.service.ask(issueRequest(catalog.service, account, { bindings }))
      assert.equal(refused.json.code, 'policy_exceeded')
      await expect('PUT', `/service-accounts/${account}/policy`, 200, { expectedRevision: 1, bindings })
      await see(repository, secret, 404)
      await see(repository, (await activeKey(catalog.service, account, { bindings })).secret, 200)
    })

    it('is beyond the ceiling of whoever could hand out the old one', async () => {
      const repository = await fresh()
      const operator = await keyTo(repository)
      const { account: target, bindings } = await keyTo(repository)
      const delegation = `/api-keys/${operator.id}/delegations/${target}`
      await expect('PUT', delegation, 200, { actions: ['policy.manage', 'credential.manage'], ceiling: bindings })
      await again(repository)
      const listed = (await expect('GET', `/api-keys/${operator.id}/delegations`, 200)).json.items
      assert.deepEqual(listed[0].ceiling, [])
      const path = `/api/v1/service-accounts/${target}/policy`
      const put = { method: 'PUT', path, credential: operator.secret, json: { expectedRevision: 1, bindings } }
      assert.equal((await catalog.service.ask(put)).json.code, 'ceiling_exceeded')
      await expect('PUT', `/service-accounts/${target}/policy`, 200, { expectedRevision: 1, bindings })
      const wish = { bindings, credential: operator.secret }
      const issued = await catalog.service.ask(issueRequest(catalog.service, target, wish))
      assert.equal(issued.json.code, 'ceiling_exceeded')
    })

    it('is what a policy meant that named it while there was none', async () => {
      const repository = freshName('to-come')
      const first = await keyTo(repository)
      await see(repository, first.secret, 404)
      await createRepository(catalog.service, repository)
      await see(repository, first.secret, 200)
      await expect('DELETE', at(repository), 204)
      const second = await keyTo(repository)
      await createRepository(catalog.service, repository)
      await see(repository, first.secret, 404)
      await see(repository, second.secret, 200)
    })

    it('is what the keys file names, which goes by ids on purpose', async () => {
      const repository = await fresh()
      const repositories = [{ repository, permissions: ['read'] as const }]
      const { file } = await addFileKeys(catalog.service, [{ id: 'file', repositories }])
      await again(repository)
      await expect('GET', at(repository), 200, undefined, file)
    })

    it('begins with journals of its own, and a cursor of the old one is told to be lost', async () => {
      const { repository, keeper } = catalog
      const id = await catalog.published()
      await catalog.expect({ method: 'PUT', path: `/artifacts/${id}/stages/tested`, json: {} }, 200)
      await catalog.expect({ method: 'DELETE', path: `/artifacts/${id}/stages/tested` }, 204)
      const policy = (
        await catalog.expect({ path: '/storage/policy', credential: (await keyTo(repository)).secret }, 200)
      ).json
      const saved = { expectedRevision: policy.revision, policy: policy.policy }
      await catalog.expect({ method: 'PUT', path: '/storage/policy', credential: keeper, json: saved }, 200)
      assert.equal((await catalog.remove(id)).status, 200)
      await catalog.inspection.upkeep(0)
      const old = await catalog.get('/changes')
      await again(repository)
      await letWriterIn(repository)
      const { secret } = await keyTo(repository)
      const items = async (path: string) => (await catalog.expect({ path, credential: secret }, 200)).json.items
      for (const path of [
        '/audit',
        '/changes',
        '/promotions',
        '/storage/events',
        '/audit?after=1',
        '/promotions?after=1',
      ])
        assert.deepEqual(await items(path), [], path)
      for (const cursor of ['0', '1', old.next, old.head])
        await catalog.expect({ path: `/changes?after=${cursor}` }, 409, 'cursor_lost')
      const { next, head } = await catalog.get('/changes')
      assert.equal(next, head)
      const made = await publish(catalog.service, catalog.writer.token, repository, newFile('new', 'new'))
      const changes = (await catalog.get(`/changes?after=${next}`)).items
      assert.deepEqual(
        changes.map((each: { action: string; artifactId: string }) => [each.action, each.artifactId]),
        [['artifact.publish', made]],
      )
      assert.deepEqual((await catalog.get('/changes')).items, changes)
      assert.deepEqual(
        (await items(`/audit?after=${old.next}`)).map((each: { artifactId: string }) => each.artifactId),
        [made],
      )
      await catalog.inspection.inOrder()
    })

    it('knows nothing of the uploads, jobs and links of the old one', async () => {
      const repository = await fresh()
      const { token } = catalog.writer
      await letWriterIn(repository)
      const file = newFile('cancelled', 'cancelled')
      const opened = await openUpload(catalog.service, token, repository, file.descriptor, 'the-same-key')
      const upload = at(repository, `/uploads/${opened.json.id}`)
      await expect('DELETE', upload, 200, undefined, token)
      await catalog.inspection.upkeep(0)
      await again(repository)
      await expect('GET', at(repository), 404, undefined, token)
      await letWriterIn(repository)
      await expect('GET', upload, 404, undefined, token)
      const next = await openUpload(
        catalog.service,
        token,
        repository,
        newFile('x', 'other').descriptor,
        'the-same-key',
      )
      assert.equal(next.status, 201, next.text)
    })

    it('knows nothing of images that were moved out of the old one', async () => {
      const repository = await fresh()
      await letWriterIn(repository)
      const { secret } = await keyTo(repository)
      const { token } = catalog.writer
      const ask = (given: Ask, status: number) => expectAnswer(catalog.service, { credential: token, ...given }, status)
      const image = `/v2/${repository}/app`
      const { text, digest } = await pusher(ask).pushImage(`${repository}/app`, 'v1')
      const json = { image: 'app', reference: 'v1', target: catalog.repository, mode: 'move' }
      const move = { path: `/api/v1${at(repository, '/images/promote')}`, json }
      await ask(move, 201)
      const remove = (path: string) => ask({ method: 'DELETE', path: `${image}/${path}`, credential: secret }, 202)
      await remove(`manifests/${digest}`)
      await ask(move, 200)
      const { config, layers } = JSON.parse(text)
      for (const blob of [digest, config.digest, layers[0].digest]) await remove(`blobs/${blob}`)
      await again(repository)
      await letWriterIn(repository)
      await ask(move, 404)
      await catalog.inspection.inOrder()
    })
  })
})
