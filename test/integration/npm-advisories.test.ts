import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { npmAuditBytesMax, npmAuditPartsMax } from '../../src/kernel/limits/npm-accounts.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, createPerson, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const npm = '/npm/releases/-/npm/v1'
const bulk = `${npm}/security/advisories/bulk`

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
  })
  after(() => service.stop())

  const ask = (request: Ask, status: number): Promise<Told> =>
    expectAnswer(service, { credential: owner.token, ...request }, status)
  const packed = (body: Uint8Array | string): Ask => ({
    path: bulk,
    headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    body,
  })

  describe('an audit', () => {
    it('is answered with nothing, packed or not, and says that nothing was looked up', async () => {
      const json = { lodash: ['4.17.20'], '@acme/tool': ['1.0.0', '2.0.0'] }
      for (const request of [{ path: bulk, json }, packed(gzipSync(JSON.stringify(json)))]) {
        const told = await ask(request, 200)
        assert.deepEqual(told.json, {})
        assert.match(String(told.headers['npm-notice']), /nothing was looked up/)
      }
    })

    it('is open to whoever may only read, and to nobody who may not', async () => {
      const path = '/api/v1/auth/tokens'
      const { token } = (await ask({ path, json: { name: 'r', scope: 'read' } }, 201)).json
      await ask({ path: bulk, json: {}, credential: token }, 200)
      await ask({ path: bulk, json: {}, credential: (await createPerson(service, 'stranger')).token }, 404)
      await ask({ path: bulk, json: {}, credential: null }, 401)
    })

    it('is refused in words where its body is none, or unpacks without end', async () => {
      const bomb = gzipSync(Buffer.alloc(64 * npmAuditBytesMax, ' '))
      assert.ok(bomb.byteLength < npmAuditBytesMax)
      const wrong: readonly (readonly [Ask, RegExp])[] = [
        [packed('no gzip'), /no gzip/],
        [packed(bomb), /unpacks to more/],
        [packed(gzipSync('{"a":')), /no JSON/],
        [{ path: bulk, json: [] }, /as npm audit does/],
        [{ path: bulk, json: { a: '1.0.0' } }, /as npm audit does/],
        [packed(gzipSync(`{${'"a":[],'.repeat(npmAuditPartsMax / 3)}"a":[]}`)), /more than 60000 names/],
      ]
      for (const [request, why] of wrong) assert.match((await ask(request, 400)).json.error, why)
      await ask({ path: bulk, headers: { 'content-encoding': 'br' }, body: 'x' }, 415)
      await ask({ path: bulk, body: Buffer.alloc(npmAuditBytesMax + 1) }, 413)
    })

    it('of older clients is not there, and says so at once', async () => {
      for (const path of [`${npm}/security/audits`, `${npm}/security/audits/quick`])
        assert.equal(typeof (await ask({ path, body: gzipSync('{}') }, 404)).json.error, 'string')
    })
  })

  it('has no keys, as a registry that does not sign', async () => {
    assert.equal(typeof (await ask({ path: `${npm}/keys` }, 404)).json.error, 'string')
  })
})
