import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { npmSite } from '../harness/npm-packages.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = npmSite(engine)
  const at = (name: string, what: string): string => `/npm/releases/-/package/${name}/${what}`
  const ask = (path: string, status: number, credential = site.owner.token, json?: object) =>
    expectAnswer(site.service, { path, credential, ...(json === undefined ? {} : { json }) }, status)

  describe('who may see a package', () => {
    it('is nobody without a credential: it is private, by each spelling of its name', async () => {
      await site.npm.publish({ name: '@acme/secret', version: '1.0.0' })
      for (const name of ['@acme%2fsecret', '@acme%2Fsecret', '%40acme%2fsecret', '@acme/secret'])
        assert.deepEqual((await ask(at(name, 'visibility'), 200)).json, { public: false })
    })

    it('is told of the caller alone', async () => {
      const path = at('@acme%2fsecret', 'collaborators')
      assert.deepEqual((await ask(path, 200)).json, { owner: 'read-write' })
      assert.deepEqual((await ask(path, 200, site.reader.token)).json, { reader: 'read-only' })
    })

    it('stays as it is: private is taken, and anything else refused in words', async () => {
      const path = at('@acme%2fsecret', 'access')
      await ask(path, 200, site.owner.token, { access: 'restricted' })
      for (const wanted of [{ access: 'public' }, {}, { access: 'restricted', publish_requires_tfa: true }])
        assert.match((await ask(path, 403, site.owner.token, wanted)).json.error, /whoever may read the repository/)
      await ask(path, 403, site.reader.token, { access: 'restricted' })
    })

    it('is told of no package that is not there', async () => {
      for (const what of ['visibility', 'collaborators']) await ask(at('nothing', what), 404)
      await ask(at('nothing', 'access'), 404, site.owner.token, { access: 'restricted' })
    })
  })
})
