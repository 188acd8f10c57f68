import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { TSchema } from 'typebox'
import { patterns } from '../../src/kernel/names.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { Catalog } from '../harness/catalog.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { indexType, manifestOf, pusher } from '../harness/images.ts'
import { npmPublisher } from '../harness/npm-packages.ts'
import { createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

/** The ends of what numbers and databases hold exactly, and something beyond all of it. */
const values = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 10n ** 39n].map(String)
const exact = String(Number.MAX_SAFE_INTEGER)

const isDecimal = (schema: unknown): boolean =>
  typeof schema === 'object' &&
  schema !== null &&
  'pattern' in schema &&
  [patterns.byteCount, patterns.sequence, patterns.sequenceCursor].some((each) => each === schema.pattern)

/** Names of the fields of a schema, however deep, that are numbers as text. */
const decimalFields = (schema: TSchema | object, name = ''): string[] => {
  if (isDecimal(schema)) return [name]
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null
      ? decimalFields(value, ['properties', 'anyOf', 'items'].includes(key) || /^\d+$/.test(key) ? name : key)
      : [],
  )
}

const policy = {
  enabled: false,
  grouping: 'package',
  keepLast: 5,
  channels: [],
  protectedLabels: [],
  minAgeHours: 0,
  intervalMinutes: 60,
  warningPercent: 80,
  criticalPercent: 90,
}

forEachEngine((engine) => {
  let catalog: Catalog
  let asks: Readonly<Record<string, (value: string) => Promise<Ask>>>
  before(async () => {
    catalog = await Catalog.open(engine)
    const { service, base, writer, keeper } = catalog
    const account = await createServiceAccount(service, [])
    const id = await catalog.published()
    const { pushManifest } = pusher((given, status) =>
      expectAnswer(service, { credential: writer.token, ...given }, status),
    )
    await pushManifest('one/some/image', manifestOf({ manifests: [] }, indexType), 'latest')
    await npmPublisher(service, writer.token, 'one').publish({ name: 'thing', version: '1.0.0' })
    const after =
      (path: string, credential: string = writer.token) =>
      async (value: string) => ({
        path: `${path}?after=${value}`,
        credential,
      })
    asks = {
      'createUpload size': async (size) => ({
        path: `${base}/uploads`,
        credential: writer.token,
        headers: { 'idempotency-key': size },
        json: { name: 'big', size, sha256: '0'.repeat(64) },
      }),
      'putStoragePolicy quotaBytes': async (quotaBytes) => {
        const path = `${base}/storage/policy`
        const { revision } = (await service.ask({ path, credential: keeper })).json
        const json = { expectedRevision: revision, policy: { ...policy, quotaBytes } }
        return { method: 'PUT', path, credential: keeper, json }
      },
      'listAudit after': after(`${base}/audit`),
      'listCatalogChanges after': after(`${base}/changes`),
      'listPromotions after': after(`${base}/promotions`),
      'listArtifactPromotions after': after(`${base}/artifacts/${id}/promotions`),
      'listImagePromotions after': async (value) => {
        const ofImage = `${base}/images/promotions?image=some/image&reference=latest`
        return { path: `${ofImage}&after=${value}`, credential: writer.token }
      },
      'listNpmPromotions after': async (value) => {
        const ofVersion = `${base}/npm/promotions?package=thing&version=1.0.0`
        return { path: `${ofVersion}&after=${value}`, credential: writer.token }
      },
      'listStorageEvents after': after(`${base}/storage/events`, keeper),
      'listSecurityAudit after': after('/api/v1/security-audit', service.recoveryKey),
      'getServiceAudit after': after(`/api/v1/service-accounts/${account.id}/audit`, service.recoveryKey),
    }
  })
  after(() => catalog.close())

  it('numbers as text are sent to every operation that takes them', () => {
    const taking = catalogue().flatMap(({ id, query, body }) =>
      [...decimalFields(query), ...(body.kind === 'json' ? decimalFields(body.schema) : [])].map(
        (name) => `${id} ${name}`,
      ),
    )
    assert.deepEqual(taking.sort(), Object.keys(asks).sort())
  })

  it('numbers as text are taken exactly or refused, never rounded and never a fault of ours', async () => {
    for (const [what, ask] of Object.entries(asks))
      for (const value of values) {
        const told = await catalog.service.ask(await ask(value))
        const expected = what.endsWith('quotaBytes') && value === exact ? [200] : [400, 409]
        assert.ok(expected.includes(told.status), `${what} ${value}: ${told.text}`)
        if (told.status === 200) assert.equal(told.json.policy.quotaBytes, value)
      }
    const usage = await catalog.expect({ path: '/storage/usage', credential: catalog.keeper }, 200)
    assert.deepEqual([usage.json.quotaBytes, usage.json.state], [exact, 'normal'])
    const tooLong = await catalog.service.ask({
      path: `${catalog.base}/audit?after=${'9'.repeat(15)}`,
      credential: catalog.writer.token,
    })
    assert.equal(tooLong.status, 200, tooLong.text)
  })
})
