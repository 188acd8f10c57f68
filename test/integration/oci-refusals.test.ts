import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { imageSite, sha256, sha512 } from '../harness/images.ts'
import { createOwner } from '../harness/people.ts'
import { startService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

/** A list of errors, each with a code and words. */
const isRefusal = (told: Told, status: number, code: string): void => {
  assert.equal(told.status, status, told.text)
  assert.equal(told.headers['content-type'], 'application/json')
  assert.ok(told.json.errors.length > 0)
  for (const error of told.json.errors) {
    assert.match(error.code, /^[A-Z_]+$/)
    assert.ok(error.message.length > 10)
  }
  assert.equal(told.json.errors[0].code, code)
}

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })

  describe('every refusal below /v2', () => {
    it('is a list of errors, also of what no operation serves', async () => {
      for (const path of ['/v2/nothing', '/v2/releases', '/v2/_oci/ext/discover', '/v2//', '/v2/releases/x/y'])
        isRefusal(await site.ask({ path }), 404, 'NAME_UNKNOWN')
      for (const path of ['manifests/1.0', `blobs/${sha256('x')}`, 'tags/list', 'blobs/uploads/']) {
        const told = await site.ask({ path: `/v2/releases/${path}` })
        isRefusal(told, 404, 'NAME_UNKNOWN')
        assert.match(
          told.json.errors[0].message,
          /at least one part more, such as releases\/app; releases is one part\.$/,
        )
      }
      const put = await site.ask({ method: 'PUT', path: '/v2/', body: 'x' })
      isRefusal(put, 405, 'UNSUPPORTED')
      assert.equal(put.headers.allow, 'GET, HEAD')
      isRefusal(await site.ask({ path: '/v2/%FF' }), 400, 'UNSUPPORTED')
    })

    it('says who may not push, who may still pull', async () => {
      const credential = site.reader.token
      await site.pushImage('releases/read', 'v1')
      const uploads = '/v2/releases/read/blobs/uploads/'
      const refused: Ask[] = [
        { method: 'POST', path: uploads },
        { method: 'POST', path: `${uploads}?digest=${sha256('x')}`, body: 'x' },
        { method: 'PUT', path: '/v2/releases/read/manifests/v2', body: '{}' },
        { method: 'DELETE', path: '/v2/releases/read/manifests/v1' },
        { method: 'DELETE', path: `/v2/releases/read/blobs/${sha256('x')}` },
      ]
      for (const each of refused) isRefusal(await site.ask({ ...each, credential }), 403, 'DENIED')
      await site.expect({ path: '/v2/releases/read/manifests/v1', credential }, 200)
    })

    it('of a manifest is the same by the address of a blob, which its bytes are as well', async () => {
      const pushed = await site.pushImage('releases/by-blob', 'v1')
      const { layers, config } = JSON.parse(pushed.text)
      const bindings = [binding('releases', 'content.read')]
      const account = await createServiceAccount(site.service, bindings)
      const credential = (await activeKey(site.service, account.id, { bindings })).secret
      const at = (digest: string): Ask => ({ path: `/v2/releases/by-blob/blobs/${digest}`, credential })
      for (const digest of [pushed.digest, sha512(pushed.text)]) {
        const told = await site.ask(at(digest))
        isRefusal(told, 403, 'DENIED')
        assert.match(told.text, /artifact\.read/)
        await site.expect({ ...at(digest), method: 'HEAD' }, 403)
        assert.equal((await site.expect({ ...at(digest), credential: site.reader.token }, 200)).text, pushed.text)
      }
      for (const { digest } of [config, ...layers]) await site.expect(at(digest), 200)
    })

    it('is 429 with when to come again where the budget is spent', async () => {
      const service = await startService(engine)
      const { token } = await createOwner(service)
      await service.restart({ SVC_REQUESTS_PER_SECOND: '1' })
      // At once: however slow the machine is, they cannot all fit into what a second brings.
      const rush = await Promise.all(
        Array.from({ length: 100 }, () => service.ask({ path: '/v2/', credential: token })),
      )
      const told = rush.find(({ status }) => status !== 200)
      assert.ok(told !== undefined)
      isRefusal(told, 429, 'TOOMANYREQUESTS')
      assert.match(String(told.headers['retry-after']), /^[1-9][0-9]*$/)
      await service.stop()
    })
  })
})
