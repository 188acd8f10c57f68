import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { globSync, statSync } from 'node:fs'
import { readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type FrontProxy, freePorts, startNginx } from '../harness/front-proxies.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, keyIn, runProgram, runSvc, startProgram } from '../harness/processes.ts'
import { startSlowly } from '../harness/slow-client.ts'
import { until } from '../harness/until.ts'
import { upack } from '../harness/zip.ts'

endProgramsAfterTests()
after(closeConnections)

interface Got {
  readonly status: number
  /** Each line of the head by itself, names in lower case. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

const nothing: Got = { status: 0, headers: [], body: Buffer.of() }

const fronts = [
  { config: 'svc.conf', host: 'files.example.org', path: '' },
  { config: 'svc-below-a-path.conf', host: 'example.org', path: '/svc' },
] as const

const page = 'https://pages.example.org'
const raw = '/api/v1/repositories/releases/raw'
const file = randomBytes(3_000_000)
const changed = randomBytes(2_000_000)

const headerOf = (got: Got, name: string): string | undefined => got.headers.find(([each]) => each === name)?.[1]

/** What belongs to a connection, a moment or a proxy, and not to the file. */
const passing = new Set(['date', 'server', 'connection', 'keep-alive', 'x-request-id', 'strict-transport-security'])
const ofFile = (got: Got): string[] =>
  got.headers
    .filter(([name]) => !passing.has(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort()

for (const { config, host, path: basePath } of fronts)
  describe(`large files, sent by nginx with ${config}`, { timeout: 120_000 }, () => {
    let service: LoneService
    let front: FrontProxy
    let base: string
    let key: string

    before(async () => {
      const [https = 0, http = 0, own = 0] = await freePorts(3)
      base = `https://${host}:${https}${basePath}`
      service = await startLoneService('sent-by-nginx', {
        SVC_BASE_URL: base,
        SVC_TRUSTED_PROXIES: '127.0.0.1',
        SVC_LISTEN: `127.0.0.1:${own}`,
        SVC_SEND_BY_PROXY: '/svc-files/',
        SVC_DOWNLOAD_SLOTS: '1',
        SVC_CORS_ORIGINS: page,
        SVC_LOG_LEVEL: 'info',
      })
      key = service.credential()
      front = await startNginx(config, host, { https, http, service: own }, join(service.dataDir, 'blobs'))
      await put('big', file)
    })
    after(async () => {
      await front[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    })

    const put = async (at: string, body: Uint8Array): Promise<string> => {
      const told = await ask(service.address, { method: 'PUT', path: `${raw}/${at}`, credential: key, body })
      assert.ok(told.status < 300, told.text)
      return told.json.artifact.id
    }
    const known = (): string[] => {
      const { port } = new URL(base)
      return ['-sS', '--cacert', front.authority, '--resolve', `${host}:${port}:127.0.0.1`]
    }
    let answers = 0
    const get = async (url: string, ...args: string[]): Promise<Got> => {
      answers += 1
      const [head, body] = [join(service.folder, `head-${answers}`), join(service.folder, `body-${answers}`)]
      await writeFile(body, '')
      const { code, stderr } = await runProgram('curl', [
        ...[...known(), '--path-as-is', '-D', head, '-o', body, ...args, url],
      ])
      assert.equal(code, 0, stderr)
      const [first = '', ...lines] = (await readFile(head, 'latin1')).trim().split('\r\n')
      const headers = lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      })
      return { status: Number(first.split(' ')[1]), headers, body: await readFile(body) }
    }
    const asKey = (): string[] => ['-H', `Authorization: Bearer ${key}`]
    const through = (path: string, ...args: string[]): Promise<Got> => get(base + path, ...asKey(), ...args)
    const direct = (path: string, ...args: string[]): Promise<Got> => get(service.address + path, ...asKey(), ...args)
    const metric = async (name: string): Promise<number> => {
      const health = keyIn(service.dataDir, 'health-token.txt')
      const { text } = await ask(service.address, { path: '/health/metrics', credential: health })
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      )
    }
    /** What nginx sent and what svc did, in bytes, while something was done. */
    const whoSent = async (run: () => Promise<unknown>): Promise<{ nginx: number; svc: number }> => {
      const look = async () => ({
        nginx: await metric('svc_left_to_proxy_bytes_total'),
        svc: await metric('svc_transfer_bytes_total{direction="out"}'),
      })
      const before = await look()
      await run()
      const now = await look()
      return { nginx: now.nginx - before.nginx, svc: now.svc - before.svc }
    }
    /** The file of the store that has these bytes. */
    const storedAs = (bytes: Uint8Array): string => {
      const digest = hash('sha256', bytes)
      const [found] = globSync(join(service.dataDir, 'blobs', digest.slice(0, 2), `${digest}-*`))
      assert.ok(found !== undefined)
      return found
    }

    test('come whole, with every header that svc says of them', async () => {
      let got = nothing
      const sent = await whoSent(async () => {
        got = await through(`${raw}/big`)
      })
      assert.equal(got.status, 200)
      assert.ok(got.body.equals(file))
      assert.deepEqual(sent, { nginx: file.length, svc: 0 })
      assert.deepEqual(ofFile(got), ofFile(await direct(`${raw}/big`)))
      const [line = ''] = service.program.stderr().match(/^.*"leftToProxy":.*$/m) ?? []
      const told = JSON.parse(line)
      assert.deepEqual([told.status, told.sent, told.leftToProxy], [200, 0, file.length])
      assert.equal(told.requestId, headerOf(got, 'x-request-id'))
    })

    test('come in the range that was asked for', async () => {
      const size = file.length
      for (const [range, start, end] of [
        ['0-99999', 0, 100_000],
        ['1500000-1699999', 1_500_000, 1_700_000],
        ['-200000', size - 200_000, size],
        ['2900000-', 2_900_000, size],
        [`2900000-${size}00`, 2_900_000, size],
        [`-${size}0`, 0, size],
      ] as const) {
        let got = nothing
        const sent = await whoSent(async () => {
          got = await through(`${raw}/big`, '-r', range)
          assert.equal(got.status, 206, range)
          assert.equal(headerOf(got, 'content-range'), `bytes ${start}-${end - 1}/${size}`)
          assert.ok(got.body.equals(file.subarray(start, end)), range)
        })
        assert.deepEqual(sent, { nginx: end - start, svc: 0 }, range)
        const same = ofFile(await direct(`${raw}/big`, '-r', range))
        // nginx says it of whole files alone.
        assert.deepEqual(
          ofFile(got),
          same.filter((line) => line !== 'accept-ranges: bytes'),
        )
      }
    })

    test('are answered as without it where others read a range or a condition otherwise', async () => {
      const etag = headerOf(await through(`${raw}/big`, '-I'), 'etag') ?? ''
      assert.match(etag, /^"sha256:[0-9a-f]{64}"$/)
      const modified = headerOf(await through(`${raw}/big`, '-I'), 'last-modified') ?? ''
      const cases: readonly (readonly [readonly string[], number, number | null])[] = [
        [['Range: bytes=0-9'], 206, 10],
        [['Range: bytes=0-99999,200000-299999'], 200, file.length],
        [['Range: bytes=9-1'], 200, file.length],
        [['Range: lines=1-2'], 200, file.length],
        [['Range: bytes=a-b'], 200, file.length],
        [[`Range: bytes=${file.length}-`], 416, null],
        [['Range: bytes=-0'], 416, null],
        [[`If-None-Match: ${etag}`], 304, 0],
        [['If-None-Match: *'], 304, 0],
        [['If-None-Match: "another"'], 200, file.length],
        [[`If-Modified-Since: ${modified}`], 304, 0],
        [['If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT'], 200, file.length],
        [[`If-Unmodified-Since: ${modified}`], 200, file.length],
        [['If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT'], 412, null],
        [[`If-Match: ${etag}`], 200, file.length],
        [['If-Match: "another"'], 412, null],
        [[`If-Range: ${etag}`, 'Range: bytes=0-99999'], 206, 100_000],
        [['If-Range: "another"', 'Range: bytes=0-99999'], 200, file.length],
        [[`If-Range: ${modified}`, 'Range: bytes=0-99999'], 200, file.length],
      ]
      for (const [headers, status, length] of cases) {
        const lines = headers.flatMap((header) => ['-H', header])
        const [got, same] = [await through(`${raw}/big`, ...lines), await direct(`${raw}/big`, ...lines)]
        assert.deepEqual([got.status, same.status], [status, status], headers.join())
        if (status !== 412 && status !== 416) {
          assert.deepEqual(ofFile(got), ofFile(same), headers.join())
          assert.ok(got.body.equals(same.body), headers.join())
        }
        if (length !== null) assert.equal(got.body.length, length, headers.join())
      }
      const none = await through(`${raw}/big`, '-r', `${file.length}-`)
      assert.equal(headerOf(none, 'content-range'), `bytes */${file.length}`)
      assert.equal(JSON.parse(none.body.toString()).code, 'range_not_satisfiable')
    })

    test('have the same head without a body, and small ones come from svc', async () => {
      const [head, same] = [await through(`${raw}/big`, '-I'), await direct(`${raw}/big`, '-I')]
      assert.equal(head.status, 200)
      assert.deepEqual(ofFile(head), ofFile(same))
      const small = randomBytes(65_536)
      await put('small', small)
      await put('inline', small.subarray(0, 100))
      const sent = await whoSent(async () => {
        assert.ok((await through(`${raw}/small`)).body.equals(small))
        assert.ok((await through(`${raw}/inline`)).body.equals(small.subarray(0, 100)))
      })
      assert.deepEqual(sent, { nginx: 0, svc: small.length + 100 })
    })

    test('come from every address that they have, to pages of others as well', async () => {
      const packed = upack({ name: 'sent', version: '1.0.0' }, [{ name: 'package/file', content: file }])
      const id = await put('sent.upack', packed)
      const artifact = `/api/v1/repositories/releases/artifacts/${id}`
      const registered = await ask(service.address, { method: 'POST', path: `${artifact}/package`, credential: key })
      assert.equal(registered.status, 200, registered.text)
      const linked = await ask(service.address, { path: `${artifact}/links`, credential: key, json: {} })
      const link = new URL(linked.json.url)
      const packages = '/api/v1/repositories/releases/packages/content?name=sent'
      const sent = await whoSent(async () => {
        for (const path of [`${artifact}/content`, packages]) {
          const got = await through(path, '-H', `Origin: ${page}`)
          assert.ok(got.body.equals(packed))
          assert.deepEqual(ofFile(got), ofFile(await through(path, '-H', `Origin: ${page}`, '-I')))
          assert.equal(headerOf(got, 'access-control-allow-origin'), page)
        }
        assert.ok((await get(link.href)).body.equals(packed))
      })
      assert.deepEqual(sent, { nginx: 3 * packed.length, svc: 0 })
    })

    test('are refused as ever, and nobody reaches them without svc', async () => {
      const below = storedAs(file).slice(join(service.dataDir, 'blobs').length)
      for (const path of [`/svc-files${below}`, `/svc-files/..%2fblobs${below}`, '/svc-files/', '/svc-files/owner'])
        assert.equal((await get(new URL(base).origin + path, ...asKey())).status, 404, path)
      await get(`${base}${raw}/..%2f..%2f..%2f..%2f..%2f..%2f..%2fsvc-files${below}`)
      assert.equal(await metric('svc_downloads_proxy_failed_total'), 0, 'nobody can say for nginx that it failed')
      const sent = await whoSent(async () => {
        assert.equal((await get(`${base}${raw}/big`)).status, 401)
        const account = { name: 'bob', password: 'correct horse battery staple' }
        for (const made of [
          { ...account, name: 'owner', administrator: true },
          { ...account, administrator: false },
        ])
          assert.equal((await ask(service.address, { path: '/api/v1/users', credential: key, json: made })).status, 201)
        const { token } = (await ask(service.address, { path: '/api/v1/auth/login', json: account })).json
        assert.equal((await get(`${base}${raw}/big`, '-H', `Authorization: Bearer ${token}`)).status, 404)
      })
      assert.deepEqual(sent, { nginx: 0, svc: 0 })
    })

    test('of images come with their digests, and manifests whole whatever range is asked for', async () => {
      const image = '/v2/releases/app'
      const sha256 = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes)}`
      const type = 'application/vnd.oci.image.manifest.v1+json'
      const push = async (path: string, method: string, body: Uint8Array, contentType: string): Promise<void> => {
        const headers = { 'content-type': contentType }
        const told = await ask(service.address, { method, path: image + path, credential: key, headers, body })
        assert.equal(told.status, 201, told.text)
      }
      await push(`/blobs/uploads/?digest=${sha256(file)}`, 'POST', file, 'application/octet-stream')
      const config = { mediaType: 'application/vnd.oci.empty.v1+json', digest: sha256(file), size: file.length }
      const annotations = { long: 'x'.repeat(200_000) }
      const manifest = Buffer.from(
        JSON.stringify({ schemaVersion: 2, mediaType: type, config, layers: [], annotations }),
      )
      await push('/manifests/latest', 'PUT', manifest, type)
      const blob = `${image}/blobs/${sha256(file)}`
      const sent = await whoSent(async () => {
        for (const [path, bytes] of [
          [blob, file],
          [`${image}/manifests/latest`, manifest],
        ] as const) {
          const got = await through(path)
          assert.ok(got.body.equals(bytes))
          assert.equal(headerOf(got, 'docker-content-digest'), sha256(bytes))
          assert.deepEqual(ofFile(got), ofFile(await through(path, '-I')))
        }
      })
      assert.deepEqual(sent, { nginx: file.length + manifest.length, svc: 0 })
      const part = await through(`${image}/manifests/latest`, '-r', '0-99999')
      assert.deepEqual([part.status, part.body.length], [200, manifest.length])
    })

    test('wait for their turn as others do, and are under way without a slot', async () => {
      await put('huge', Buffer.alloc(64_000_000))
      const slow = await startSlowly(service.address, { path: `${raw}/huge`, credential: key })
      const mine = ['-H', 'Svc-Download-Id: 0123456789abcdef']
      const queued = await through(`${raw}/big`, ...mine)
      assert.deepEqual([queued.status, JSON.parse(queued.body.toString()).code], [503, 'download_queued'])
      slow.vanish()
      await until('its turn has come', async () => (await through(`${raw}/big`, ...mine)).status === 200)
      await until(
        'the slot that rests for its next range is free',
        async () => (await metric('svc_download_slots_held')) === 0,
      )
      const back = join(service.folder, 'slowly')
      const sent = await whoSent(async () => {
        const slowly = ['--limit-rate', '1M', '-o', back, `${base}${raw}/huge`]
        const other = startProgram('curl', [...known(), ...asKey(), ...slowly])
        await until('it is under way', () => (statSync(back, { throwIfNoEntry: false })?.size ?? 0) > 0)
        assert.equal(await metric('svc_download_slots_held'), 0)
        assert.equal((await through(`${raw}/big`, ...mine)).status, 200)
        assert.equal(other.child.exitCode, null)
        other.child.kill('SIGTERM')
        await other.ended
      })
      assert.deepEqual(sent, { nginx: 64_000_000 + file.length, svc: 0 })
    })

    test('come from svc to whoever asks it directly, whatever they claim to be', async () => {
      const claims = ['-H', 'X-Sendfile-Type: X-Accel-Redirect', '-H', 'X-Forwarded-For: 127.0.0.1']
      const sent = await whoSent(async () => {
        for (const args of [[], ['--interface', '127.0.0.2', ...claims]]) {
          const got = await direct(`${raw}/big`, '--max-time', '20', ...args)
          assert.ok(got.body.equals(file))
          assert.equal(headerOf(got, 'x-accel-redirect'), undefined)
        }
      })
      assert.deepEqual(sent, { nginx: 0, svc: 2 * file.length })
    })

    test('come from svc as well where nginx cannot read them, and says so', async () => {
      await put('other', changed)
      const stored = storedAs(changed)
      await rename(stored, `${stored}.moved`)
      await symlink(`${stored}.moved`, stored)
      const sent = await whoSent(async () => {
        const got = await through(`${raw}/other`)
        assert.ok(got.body.equals(changed))
        assert.deepEqual(ofFile(got), ofFile(await direct(`${raw}/other`, '-I')))
        assert.ok((await through(`${raw}/other`, '-r', '5-1000004')).body.equals(changed.subarray(5, 1_000_005)))
      })
      assert.equal(sent.svc, changed.length + 1_000_000)
      assert.equal(await metric('svc_downloads_proxy_failed_total'), 2)
      assert.match(service.program.stderr(), /"level":"warn".*"status":200.*The proxy could not open the file/)
      await rm(stored)
      const got = await through(`${raw}/other`)
      assert.equal(got.status, 500)
      assert.equal(JSON.parse(got.body.toString()).code, 'internal')
      await rename(`${stored}.moved`, stored)
      assert.ok((await through(`${raw}/other`)).body.equals(changed))
    })

    test('are an error where the disk has not all of them, and not what it has', async () => {
      const short = randomBytes(900_000)
      await put('short', short)
      await truncate(storedAs(short), 500_000)
      for (const args of [[], ['-r', '0-99999'], ['-r', '400000-600000'], ['-r', '-100000'], ['-r', '600000-800000']]) {
        const got = await through(`${raw}/short`, ...args)
        assert.equal(got.status, 500, args.join(' '))
        assert.equal(JSON.parse(got.body.toString()).code, 'internal')
      }
      assert.match(service.program.stderr(), /has 500000 bytes instead of 900000/)
    })

    test('is refused where it cannot be', async () => {
      const started = await runSvc(['up'], {
        ...service.settings,
        SVC_TRUSTED_PROXIES: '',
        SVC_SEND_BY_PROXY: '/api/x',
      })
      assert.notEqual(started.code, 0)
      assert.match(started.stderr, /SVC_SEND_BY_PROXY: .*begins with \/api/)
    })
  })
