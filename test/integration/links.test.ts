import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { reads } from '../../src/contract/operation.ts'
import { day, MiB } from '../../src/kernel/units.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer, reasonOf } from '../harness/expect.ts'
import { createOwner, createPerson, createRepository, grant, type Person, signIn } from '../harness/people.ts'
import { probeOf } from '../harness/probe.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { type ServiceOptions, startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, revocation } from '../harness/service-keys.ts'
import { type SlowClient, startSlowly } from '../harness/slow-client.ts'
import { until } from '../harness/until.ts'
import { challengeAt } from '../harness/wires.ts'

after(closeConnections)

const file = newFile('tool v1 "é".zip', 'the bytes of a tool')
const artifactPath = (id: string, repository = 'releases') => `/api/v1/repositories/${repository}/artifacts/${id}`

forEachEngine((engine) => {
  let service: TestService
  let owner: Person
  let id: string
  before(async () => {
    service = await startService(engine, { settings: { SVC_CORS_ORIGINS: 'https://listed.example.org' } })
    owner = await createOwner(service)
    id = await publish(service, owner.token, 'releases', file)
  })
  after(() => service.stop())

  const asking = (credential: string, json: object = {}, path = artifactPath(id)): Ask => ({
    method: 'POST',
    path: `${path}/links`,
    credential,
    json,
  })
  const linkOf = async (ttlSeconds?: number, credential = owner.token, of = id): Promise<string> => {
    const json = ttlSeconds === undefined ? {} : { ttlSeconds }
    return (await expectAnswer(service, asking(credential, json, artifactPath(of)), 201)).json.token
  }
  const fetching = (token: string, of = id, repository = 'releases'): Ask => ({
    path: `${artifactPath(of, repository)}/content?token=${token}`,
  })
  const refused = async (request: Ask, code: string, where: Pick<TestService, 'ask'> = service): Promise<void> => {
    const told = await expectAnswer(where, request, 401, code)
    const challenge = challengeAt(request, code)
    assert.match(String(told.headers['www-authenticate']), challenge)
  }
  const beside = async (options: ServiceOptions, work: (other: TestService) => Promise<void>): Promise<void> => {
    const other = await startService(engine, { ...options, on: service })
    try {
      await work(other)
    } finally {
      await other.stop()
    }
  }

  describe('a download link', () => {
    it('is a token and an address that anyone can fetch with nothing else', async () => {
      const { token, url, ...rest } = (await expectAnswer(service, asking(owner.token), 201)).json
      assert.deepEqual(rest, {})
      assert.match(token, /^dtl_/)
      assert.equal(url, `${service.url}${artifactPath(id)}/content?token=${token}`)
      const answer = await fetch(url)
      assert.equal(answer.status, 200)
      assert.equal(await answer.text(), 'the bytes of a tool')
    })

    it('has the address under which clients know us', async () => {
      await beside({ settings: { SVC_BASE_URL: 'https://files.example.org' } }, async (other) => {
        const { url } = (await expectAnswer(other, asking(owner.token), 201)).json
        assert.ok(url.startsWith(`https://files.example.org${artifactPath(id)}/content?token=dtl_`))
      })
    })

    it('gives what the same request with a credential gives: HEAD, ranges and conditions', async () => {
      const token = await linkOf()
      const essence = ({ status, headers, text }: Told) => {
        const { date: _, 'x-request-id': __, ...kept } = headers
        return { status, headers: kept, text }
      }
      const key = await activeKey(
        service,
        (await createServiceAccount(service, [binding('releases', 'content.read')])).id,
        { bindings: [binding('releases', 'content.read')] },
      )
      for (const [method, headers, status] of [
        ['GET', {}, 200],
        ['HEAD', {}, 200],
        ['GET', { range: 'bytes=4-8' }, 206],
        ['GET', { 'if-none-match': `"sha256:${file.descriptor.sha256}"` }, 304],
        ['HEAD', { 'if-none-match': '*' }, 304],
        ['GET', { 'svc-download-class': 'bulk' }, 200],
        ['GET', { 'svc-download-class': 'interactive' }, 200],
      ] as const) {
        const path = `${artifactPath(id)}/content`
        const byLink = await expectAnswer(service, { ...fetching(token), method, headers }, status)
        const byKey = await expectAnswer(service, { path, method, headers, credential: key.secret }, status)
        assert.deepEqual(essence(byLink), essence(byKey))
      }
      await expectAnswer(service, { ...fetching(token), headers: { range: 'bytes=100-' } }, 416)
    })

    it('is of the class of releases, and is kept out of caches, addresses and pages', async () => {
      const told = await expectAnswer(service, fetching(await linkOf()), 200)
      assert.equal(told.headers['svc-download-class'], 'release')
      assert.match(String(told.headers['cache-control']), /private/)
      assert.equal(told.headers['referrer-policy'], 'no-referrer')
      assert.equal(told.headers['set-cookie'], undefined)
      const made = await expectAnswer(service, asking(owner.token), 201)
      assert.equal(made.headers['cache-control'], 'no-store')
    })

    it('lasts an hour, or from 60 seconds to a day', async () => {
      for (const ttlSeconds of [59, 86_401, 0, -60, 60.5, '60', null, 1e99])
        await expectAnswer(service, asking(owner.token, { ttlSeconds }), 400, 'invalid_request')
      await expectAnswer(service, asking(owner.token, { ttl: 60 }), 400, 'invalid_request')
      for (const [wanted, seconds] of [
        [undefined, 3_600],
        [60, 60],
        [86_400, 86_400],
      ] as const) {
        const token = await linkOf(wanted)
        service.clock.advance((seconds - 20) * 1000)
        await expectAnswer(service, fetching(token), 200)
        service.clock.advance(21_000)
        await refused(fetching(token), 'token_expired')
        await refused({ ...fetching(token), headers: { range: 'bytes=0-1' } }, 'token_expired')
        service.clock.advance(-(seconds + 1) * 1000)
      }
    })

    it('is made by whoever may read the bytes, and by nobody else', async () => {
      const reader = await createPerson(service, `reader-${engine.name}`)
      await expectAnswer(service, asking(reader.token), 404, 'not_found')
      await grant(service, reader, 'releases', 'read')
      await linkOf(60, reader.token)
      await linkOf(60, service.recoveryKey)
      const tokenOf = async (scope: string): Promise<string> =>
        (
          await expectAnswer(
            service,
            { path: '/api/v1/auth/tokens', credential: reader.token, json: { name: 'x', scope } },
            201,
          )
        ).json.token
      await linkOf(60, await tokenOf('read-write'))
      await expectAnswer(service, asking(await tokenOf('read')), 403, 'read_only_token')
      const keyWith = async (action: 'content.read' | 'artifact.read'): Promise<string> => {
        const bindings = [binding('releases', action)]
        return (await activeKey(service, (await createServiceAccount(service, bindings)).id, { bindings })).secret
      }
      await linkOf(60, await keyWith('content.read'))
      await expectAnswer(service, asking(await keyWith('artifact.read')), 403, 'permission_missing')
      await expectAnswer(service, asking(service.healthKey), 404, 'not_found')
      await expectAnswer(service, { ...asking(''), credential: null }, 401, 'credential_missing')
      await refused({ ...asking(''), credential: await linkOf() }, 'credential_invalid')
      const request = asking('', {}, artifactPath(id))
      const byLink = { ...request, credential: null, path: `${request.path}?token=${await linkOf()}` }
      await expectAnswer(service, byLink, 401, 'credential_missing')
    })

    it('is not made to what is not published here', async () => {
      await createRepository(service, 'other')
      for (const path of [artifactPath(randomUUID()), artifactPath(id, 'other'), artifactPath(id, 'missing')])
        await expectAnswer(service, asking(owner.token, {}, path), 404, 'not_found')
      await expectAnswer(service, asking(owner.token, {}, artifactPath('nonsense')), 400, 'invalid_request')
    })

    it('opens one artifact of one repository, by GET and HEAD, and no other door', async () => {
      const token = await linkOf()
      const second = await publish(service, owner.token, 'releases', newFile('second', 'x'))
      await refused(fetching(token, second), 'credential_invalid')
      await refused(fetching(token, randomUUID()), 'credential_invalid')
      for (const repository of ['other', 'missing', 'RELEASES'])
        await refused(fetching(token, id, repository), 'credential_invalid')
      for (const operation of catalogue().filter((each) => each.id !== 'getArtifactContent')) {
        const probe = probeOf(operation, { repository: 'releases', id })
        const path = `${probe.path}?token=${token}`
        const anyone = operation.access.kind === 'anyone'
        // Whoever passes over what it does not know looks at no link either.
        if (anyone && Reflect.get(operation.query, 'additionalProperties') === true) continue
        const told = await expectAnswer(service, { ...probe, path }, anyone ? 400 : 401)
        assert.equal(reasonOf(told), anyone ? 'invalid_request' : 'credential_missing', operation.id)
        const bearer = { ...probe, credential: token }
        if (!anyone) await refused(bearer, 'credential_invalid')
        // What is looked for before the input is, is not there; and some pass over what they do not know.
        const { kind } = operation.access
        if (Reflect.get(operation.query, 'additionalProperties') === true) continue
        if (anyone || !reads(operation) || kind === 'administration' || kind === 'own-job') continue
        const known = await service.ask({ ...probe, path, credential: owner.token })
        assert.ok([400, 403].includes(known.status), `${operation.id}: ${known.text}`)
      }
      for (const method of ['PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'])
        await expectAnswer(service, { ...fetching(token), method }, 405, 'method_not_allowed')
    })

    it('is no credential in a header, a cookie or by another name', async () => {
      const token = await linkOf()
      const path = `${artifactPath(id)}/content`
      await refused({ path, credential: token }, 'credential_invalid')
      await refused({ path, headers: { authorization: `Basic ${btoa(`x:${token}`)}` } }, 'credential_invalid')
      await expectAnswer(service, { path, headers: { cookie: `token=${token}` } }, 401, 'credential_missing')
      for (const name of ['Token', 'access_token', 'tok%00en'])
        await expectAnswer(service, { path: `${path}?${name}=${token}` }, 401, 'credential_missing')
      // Nor is another credential one in the query.
      for (const other of [owner.token, service.recoveryKey]) await refused(fetching(other), 'credential_invalid')
    })

    it('is refused when it is malformed, and when there are two', async () => {
      const token = await linkOf()
      for (const wrong of ['', 'dtl_', 'dtl_x', token.slice(0, 31), token.slice(0, -1), `${token}A`, token.repeat(4)])
        await refused(fetching(wrong), 'credential_invalid')
      for (const wrong of ['%00'.repeat(40), '%FF'.repeat(40), `${token}%20`, `%20${token}`, token.toLowerCase()])
        await refused(fetching(wrong), 'credential_invalid')
      await refused(fetching(`${token}&token=${token}`), 'credential_invalid')
      await expectAnswer(service, fetching(`${token}&surprise=1`), 400, 'invalid_request')
      await expectAnswer(service, fetching(token.replace('d', '%64')), 200)
    })

    it('stands back behind Authorization, whatever is in it', async () => {
      const link = await linkOf()
      const stranger = await createPerson(service, `stranger-${engine.name}`)
      const bindings = [binding('releases', 'artifact.read')]
      const key = await activeKey(service, (await createServiceAccount(service, bindings)).id, { bindings })
      const both = (credential: string): Ask => ({ ...fetching(link), credential })
      await refused(both('x'.repeat(64)), 'credential_invalid')
      await refused(both('short'), 'credential_invalid')
      await refused({ ...fetching(link), headers: { authorization: 'nonsense' } }, 'credential_invalid')
      await expectAnswer(service, both(stranger.token), 404, 'not_found')
      await expectAnswer(service, both(key.secret), 403, 'permission_missing')
      const told = await expectAnswer(service, both(owner.token), 200)
      assert.equal(told.headers['svc-download-class'], 'interactive')
      await expectAnswer(service, { ...fetching('nonsense'), credential: owner.token }, 200)
      await expectAnswer(service, { ...fetching(link), headers: { authorization: '' } }, 200)
    })

    it('lives on when its maker may do no more: it cannot be taken back', async () => {
      const maker = await createPerson(service, `maker-${engine.name}`)
      const group = await grant(service, maker, 'releases', 'read')
      const bindings = [binding('releases', 'content.read')]
      const key = await activeKey(service, (await createServiceAccount(service, bindings)).id, { bindings })
      const links = [await linkOf(60, maker.token), await linkOf(60, key.secret)]
      const all = async (): Promise<void> => {
        for (const link of links) await expectAnswer(service, fetching(link), 200)
      }
      const credential = owner.token
      const grantPath = `/api/v1/access-groups/${group}/grants/releases`
      await expectAnswer(service, { method: 'DELETE', path: grantPath, credential }, 204)
      await expectAnswer(service, asking(maker.token), 404)
      await expectAnswer(service, revocation(key.id, service.recoveryKey), 200)
      await all()
      const path = `/api/v1/users/${maker.id}`
      await expectAnswer(service, { method: 'PATCH', path, credential, json: { enabled: false } }, 200)
      await all()
    })

    it('ends with the artifact', async () => {
      const gone = await publish(service, owner.token, 'releases', newFile('gone', 'x'))
      const link = await linkOf(60, owner.token, gone)
      await expectAnswer(service, fetching(link, gone), 200)
      await inDatabase(service, (q) => q.deleteFrom('artifacts').where('id', '=', gone).execute())
      await expectAnswer(service, fetching(link, gone), 404, 'not_found')
      await expectAnswer(service, { ...fetching(link, gone), method: 'HEAD' }, 404)
    })

    it('works on pages of listed origins without credentials, and on no others', async () => {
      const link = await linkOf()
      const headers = { origin: 'https://listed.example.org' }
      const told = await expectAnswer(service, { ...fetching(link), headers }, 200)
      assert.equal(told.headers['access-control-allow-origin'], headers.origin)
      assert.equal(told.headers['access-control-allow-credentials'], undefined)
      const other = { ...fetching(link), headers: { origin: 'https://other.example.org' } }
      await expectAnswer(service, other, 403, 'origin_not_allowed')
    })
  })

  describe('download links of several processes', () => {
    it('are honoured by a reader and by another writer at once, and theirs by us', async () => {
      await beside({ roles: { gateway: 'reader', worker: false } }, async (reader) => {
        const link = await linkOf()
        await expectAnswer(reader, fetching(link), 200)
        await expectAnswer(reader, { ...fetching(link), method: 'HEAD' }, 200)
        await refused(fetching(`${link.slice(0, -1)}${link.endsWith('A') ? 'B' : 'A'}`), 'credential_invalid', reader)
        await expectAnswer(reader, asking(owner.token), 405, 'method_not_allowed')
      })
      await beside({ roles: { gateway: 'api', worker: false } }, async (other) => {
        const { token } = (await expectAnswer(other, asking(owner.token), 201)).json
        await expectAnswer(service, fetching(token), 200)
        await expectAnswer(other, fetching(await linkOf()), 200)
      })
    })

    it('outlive the process that made them, and the turn of its key', async () => {
      const early = await linkOf(86_400)
      await service.restart()
      await expectAnswer(service, fetching(early), 200)
      service.clock.advance(6.5 * day)
      await refused(fetching(early), 'token_expired')
      // A session does not last that long; the recovery key does.
      const links = [await linkOf(86_400, service.recoveryKey)]
      service.clock.advance(0.9 * day)
      links.push(await linkOf(86_400, service.recoveryKey))
      await beside({ roles: { gateway: 'reader', worker: false } }, async (reader) => {
        for (const link of links) {
          await expectAnswer(service, fetching(link), 200)
          await expectAnswer(reader, fetching(link), 200)
        }
      })
      await service.restart()
      for (const link of links) await expectAnswer(service, fetching(link), 200)
    })
  })

  it('lets all links of one maker take one share together, and none of the maker or of the links of another', async () => {
    const small = await startService(engine, { on: service, settings: { SVC_REQUESTS_PER_SECOND: '1' } })
    try {
      const links = await Promise.all(Array.from({ length: 40 }, () => linkOf(3_600, service.recoveryKey)))
      const another = await linkOf(3_600, await signIn(service, owner.name))
      const rush = await Promise.all(links.map((link) => small.ask(fetching(link))))
      const served = rush.filter(({ status }) => status === 200).length
      assert.deepEqual(new Set(rush.map(({ status }) => status)), new Set([200, 429]))
      assert.ok(served < 20, `${served} of 40 links were served at once`)
      await expectAnswer(small, fetching(another), 200)
      await expectAnswer(small, { path: '/api/v1/auth/me', credential: service.recoveryKey }, 200)
    } finally {
      await small.stop()
    }
  })

  it('takes its downloads from the share of who made it: an account and its links never have all slots', async () => {
    const big = newFile('big', Buffer.alloc(24 * MiB))
    const of = await publish(service, service.recoveryKey, 'releases', big)
    const other = await createPerson(service, 'other-reader')
    await grant(service, other, 'releases', 'read')
    await beside({ settings: { SVC_DOWNLOAD_SLOTS: '8' } }, async (small) => {
      const slow: SlowClient[] = []
      for (let count = 0; count < 7; count++) {
        const path =
          count % 2 === 0
            ? `${artifactPath(of)}/content`
            : fetching(await linkOf(600, service.recoveryKey, of), of).path
        slow.push(await startSlowly(small.url, count % 2 === 0 ? { path, credential: service.recoveryKey } : { path }))
      }
      const state = async () =>
        (await small.ask({ path: '/health/ready', credential: small.healthKey })).json.transfers.downloads.admission
      const waiting = openConnection(small.url).then((connection) => {
        connection.send(
          `GET ${artifactPath(of)}/content HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.recoveryKey}\r\n\r\n`,
        )
        return connection
      })
      await until('the eighth of them waits', async () => (await state()).waiting === 1)
      assert.equal((await state()).held, 7)
      const told = await small.ask({ path: `${artifactPath(of)}/content`, credential: other.token })
      assert.equal(told.bytes.byteLength, big.bytes.byteLength)
      for (const client of slow) client.vanish()
      ;(await waiting).socket.destroy()
      await until('all slots are free', async () => (await state()).held === 0)
    })
  })

  it('tells in the OpenAPI document which operation takes a link, and no other does', async () => {
    const { json } = await expectAnswer(service, { path: '/api/v1/openapi.json', credential: service.recoveryKey }, 200)
    assert.deepEqual(json.components.securitySchemes.link.in, 'query')
    for (const [path, item] of Object.entries<Record<string, { 'x-svc-link': boolean; security?: object[] }>>(
      json.paths,
    ))
      for (const [method, operation] of Object.entries(item)) {
        const takes = method === 'get' && path === '/api/v1/repositories/{repository}/artifacts/{id}/content'
        assert.equal(operation['x-svc-link'], takes)
        assert.equal(JSON.stringify(operation.security ?? []).includes('link'), takes)
      }
  })
})
