import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type FrontPorts, type FrontProxy, freePorts, startCaddy, startNginx } from '../harness/front-proxies.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, runProgram } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

interface Front {
  readonly name: string
  readonly host: string
  readonly path: string
  start(ports: FrontPorts): Promise<FrontProxy>
}

const fronts: readonly Front[] = [
  {
    name: 'nginx',
    host: 'files.example.org',
    path: '',
    start: (ports) => startNginx('svc.conf', 'files.example.org', ports),
  },
  {
    name: 'nginx, below a path',
    host: 'example.org',
    path: '/svc',
    start: (ports) => startNginx('svc-below-a-path.conf', 'example.org', ports),
  },
  { name: 'Caddy', host: 'files.example.org', path: '', start: (ports) => startCaddy('Caddyfile', ports) },
  {
    name: 'Caddy, below a path',
    host: 'example.org',
    path: '/svc',
    start: (ports) => startCaddy('below-a-path.Caddyfile', ports),
  },
]

const sha256Of = (bytes: Uint8Array): string => `sha256:${hash('sha256', bytes)}`

/** Larger than what a proxy keeps in memory, or takes unless it is told to. */
const manyBytes = 9_000_000

for (const { name, host, path, start } of fronts) {
  describe(`behind ${name}`, { timeout: 120_000 }, () => {
    let file: string
    let service: LoneService
    let front: FrontProxy
    let ports: FrontPorts
    let base: string
    let key: string

    before(async () => {
      const [https = 0, http = 0, own = 0] = await freePorts(3)
      ports = { https, http, service: own }
      base = `https://${host}:${https}${path}`
      service = await startLoneService('front', {
        SVC_BASE_URL: base,
        SVC_TRUSTED_PROXIES: '127.0.0.1',
        SVC_LISTEN: `127.0.0.1:${own}`,
      })
      key = service.credential()
      file = join(service.folder, 'big file')
      await writeFile(file, randomBytes(manyBytes))
      front = await start(ports)
    })
    after(async () => {
      await front[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
    })

    const names = (): string[] =>
      [ports.https, ports.http].flatMap((port) => ['--resolve', `${host}:${port}:127.0.0.1`])
    const curl = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runProgram('curl', [
        ...['-sS', '--fail-with-body', '--cacert', front.authority, ...names()],
        ...args,
      ])
      assert.equal(code, 0, `${args.join(' ')}\n${stdout}${stderr}`)
      return stdout
    }
    const asKey = (): string[] => ['-H', `Authorization: Bearer ${key}`]
    const tell = (json: unknown): string[] => ['-H', 'Content-Type: application/json', '-d', JSON.stringify(json)]
    const releases = (): string => `${base}/api/v1/repositories/releases`
    const fileAt = (at: string): string => `${releases()}/raw/${at}`

    test('a large file goes in and out under a name with odd characters', async () => {
      const at = fileAt('a%20b/c%2Bd%25/e.bin')
      const told = JSON.parse(await curl(...asKey(), '-T', file, at))
      assert.equal(told.path, 'a b/c+d%/e.bin')
      const back = join(service.folder, 'back')
      await curl(...asKey(), '-o', back, at)
      assert.ok(readFileSync(back).equals(readFileSync(file)))
      const part = await curl(...asKey(), '-r', '0-99', '-o', back, '-w', '%{http_code}', at)
      assert.equal(part, '206')
      assert.equal(statSync(back).size, 100)
    })

    test('a target goes on as it was sent', async () => {
      const refused = await runProgram('curl', [
        '-s',
        '--path-as-is',
        '--cacert',
        front.authority,
        ...names(),
        ...asKey(),
        fileAt('a%2F..%2Fb'),
      ])
      const told = JSON.parse(refused.stdout)
      const same = await ask(service.address, { path: '/api/v1/repositories/releases/raw/a%2F..%2Fb', credential: key })
      assert.deepEqual([told.code, told.detail], [same.json.code, same.json.detail])
    })

    test('links, places and the document bear the address that clients use, and lead back', async () => {
      const document = JSON.parse(await curl(...asKey(), `${base}/api/v1/openapi.json`))
      assert.deepEqual(document.servers, [{ url: base }])

      const bytes = 'given away'
      await writeFile(join(service.folder, 'small'), bytes)
      const { artifact } = JSON.parse(await curl(...asKey(), '-T', join(service.folder, 'small'), fileAt('small')))
      const { sha256 } = artifact
      const upload = { name: 'small', size: String(bytes.length), sha256 }
      const head = await curl(
        ...[...asKey(), ...tell(upload), '-H', 'Idempotency-Key: one', '-D', '-', '-o', '/dev/null'],
        `${releases()}/uploads`,
      )
      const location = /^location: (\S+)/im.exec(head)?.[1] ?? ''
      assert.ok(location.startsWith(`${path}/api/v1/repositories/releases/uploads/`), head)
      const session = JSON.parse(await curl(...asKey(), new URL(location, base).href))
      assert.equal(session.status, 'pending')

      const link = JSON.parse(await curl(...asKey(), ...tell({}), `${releases()}/artifacts/${artifact.id}/links`))
      assert.ok(link.url.startsWith(`${releases()}/artifacts/`), link.url)
      assert.equal(await curl(link.url), bytes)
    })

    test('an image is pushed and pulled below /v2 of the host, by the addresses that are told', async () => {
      const origin = new URL(base).origin
      const at = (told: string): string => new URL(told, origin).href
      /** A header of an answer, whatever its status. */
      const header = async (name: string, ...args: string[]): Promise<string> => {
        const head = await curl('-D', '-', '-o', '/dev/null', ...args)
        return new RegExp(`^${name}: (.+?)\r?$`, 'im').exec(head)?.[1] ?? ''
      }
      const challenged = await runProgram('curl', [
        ...['-sS', '-D', '-', '-o', '/dev/null', '--cacert', front.authority, ...names(), `${origin}/v2/`],
      ])
      const realm = /realm="([^"]+)"/.exec(challenged.stdout)?.[1] ?? ''
      const { token } = JSON.parse(await curl('-u', `anybody:${key}`, `${realm}?service=${host}`))
      const signedIn = ['-H', `Authorization: Bearer ${token}`]

      const image = `${origin}/v2/releases/behind/proxy`
      const digest = sha256Of(readFileSync(file))
      const uploads = `${image}/blobs/uploads/`
      const half = join(service.folder, 'half')
      await writeFile(half, readFileSync(file).subarray(0, 5_000_000))
      const rest = join(service.folder, 'rest')
      await writeFile(rest, readFileSync(file).subarray(5_000_000))
      const upload = at(await header('location', ...signedIn, '-X', 'POST', '-H', 'Content-Length: 0', uploads))
      const again = at(await header('location', ...signedIn, '-X', 'PATCH', '-T', half, upload))
      assert.equal(again, upload)
      const blob = at(await header('location', ...signedIn, '-T', rest, `${upload}?digest=${digest}`))
      const back = join(service.folder, 'layer')
      await curl(...signedIn, '-o', back, blob)
      assert.ok(readFileSync(back).equals(readFileSync(file)))
      const config = { mediaType: 'application/vnd.oci.image.config.v1+json', digest, size: manyBytes }
      const mediaType = 'application/vnd.oci.image.manifest.v1+json'
      const manifest = JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [] })
      const sent = ['-X', 'PUT', '-H', `Content-Type: ${mediaType}`, '--data-binary', manifest]
      for (const tag of ['1', '2'])
        assert.equal(
          await curl(...signedIn, at(await header('location', ...signedIn, ...sent, `${image}/manifests/${tag}`))),
          manifest,
        )
      const next = /<([^>]+)>/.exec(await header('link', ...signedIn, `${image}/tags/list?n=1`))?.[1] ?? ''
      assert.deepEqual(JSON.parse(await curl(...signedIn, at(next))).tags, ['2'])
    })

    test('an upload reaches svc while it is still under way, and rests nowhere else', async () => {
      const made = await runProgram('mkfifo', [join(service.folder, 'go on')])
      assert.equal(made.code, 0)
      const upload = runProgram('bash', [
        '-c',
        `(head -c 200000 "$1"; read -r < "$2"; head -c 200000 "$1") | curl -sS --fail-with-body "\${@:3}"`,
        ...['upload', file, join(service.folder, 'go on'), '--cacert', front.authority, ...names(), ...asKey()],
        ...['-T', '-', fileAt('slowly')],
      ])
      await until('svc has what was sent', async () => {
        const staged = globSync(join(service.folder, 'data/staging/*')).map(
          (each) => statSync(each, { throwIfNoEntry: false })?.size,
        )
        return staged.some((size = 0) => size >= 200_000)
      })
      const kept = globSync(join(front.folder, 'temp-*/**')).filter((each) => statSync(each).isFile())
      assert.deepEqual(kept, [])
      await writeFile(join(service.folder, 'go on'), '\n')
      const { code, stdout, stderr } = await upload
      assert.equal(code, 0, stdout + stderr)
      assert.equal(JSON.parse(stdout).artifact.size, '400000')
    })

    test('a refusal of a large body arrives, and says who refused', async () => {
      const args = ['-sS', '--cacert', front.authority, ...names(), '-H', 'Authorization: Bearer wrong', '-T', file]
      const { code, stdout } = await runProgram('curl', [...args, fileAt('refused')])
      assert.equal(code, 0)
      assert.equal(JSON.parse(stdout).code, 'credential_invalid')
    })

    test('svc believes it: it knows whom it speaks to, and a page of its own is none of another origin', async () => {
      const origin = new URL(base).origin
      const told = await curl(
        ...asKey(),
        '-H',
        `Origin: ${origin}`,
        '-H',
        'X-Forwarded-For: 192.0.2.1',
        `${base}/api/v1/auth/me`,
      )
      assert.equal(JSON.parse(told).administrator, true)
      assert.doesNotMatch(service.program.stdout() + service.program.stderr(), /X-Forwarded/)
    })

    test('other ways to it lead to the right one', async () => {
      const where = async (from: string): Promise<string> =>
        await curl('-o', '/dev/null', '-w', '%{http_code} %{redirect_url}', from)
      if (path !== '') assert.match(await where(base), new RegExp(`^308 ${base}/$`))
      else
        assert.match(await where(`http://${host}:${ports.http}/health/live?x=1`), /^308 https:.*\/health\/live\?x=1$/)
      assert.equal((await ask(service.address, { path: '/health/status' })).status, 200)
      assert.equal((await ask(service.address, { path: `${path}/health/status` })).status, 200)
      assert.equal(JSON.parse(await curl(`${base}/health/status`)).status, 'ready')
    })

    test('its logs have no credential of a link, not even while svc is down', async () => {
      service.program.child.kill('SIGKILL')
      await service.program.ended
      const at = `${path}/api/v1/repositories/releases/artifacts/gone/content?part=1&token=`
      const told = async (from: string): Promise<string> => {
        const ended = await runProgram('curl', [
          ...['-sS', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', front.authority, ...names()],
          ...[...asKey(), from],
        ])
        return ended.stdout
      }
      assert.equal(await told(`https://${host}:${ports.https}${at}secret-of-a-link`), '502')
      if (path === '') assert.equal(await told(`http://${host}:${ports.http}${at}secret-of-a-link`), '308')
      await until('it is logged that svc did not answer', () =>
        /artifacts\/gone.* 502|"status":502/.test(front.logged()),
      )
      assert.doesNotMatch(front.logged(), /secret-of-a-link/)
      assert.ok(!front.logged().includes(key))
    })
  })
}
