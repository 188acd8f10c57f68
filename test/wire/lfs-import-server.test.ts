import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type GitDesk, newGitRemote, sitDownWithGit } from '../harness/git-desks.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, runProgram, runSvc, svcFile } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const lfsType = 'application/vnd.git-lfs+json'
const oidOf = (bytes: Uint8Array): string => hash('sha256', bytes)
/** Tests stand on one machine, which the door leads nobody to who does not say so. */
const here = ['--allow-private', '127.0.0.0/8']

describe('svc lfs import from another server', { timeout: 280_000 }, () => {
  let service: LoneService
  let other: LoneService
  let passwordFile: string
  before(async () => {
    service = await startLoneService('lfs-import-into')
    other = await startLoneService('lfs-import-from')
    passwordFile = join(service.folder, 'password')
    await writeFile(passwordFile, `${other.credential()}\n`)
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
  })

  const settings = () => ({ ...service.settings, SVC_URL: service.address, SVC_TOKEN: service.credential() })
  const run = (from: string, ...args: readonly string[]) =>
    runSvc(['lfs', 'import', 'releases', from, ...args], settings())
  const lists: string[] = []
  const listOf = async (text: string): Promise<string[]> => {
    const path = join(service.folder, `list-${lists.push(text)}`)
    await writeFile(path, text)
    return ['--objects', path]
  }
  const linesOf = (objects: readonly Uint8Array[]): Promise<string[]> =>
    listOf(objects.map((bytes) => `${oidOf(bytes)} ${bytes.byteLength}\n`).join(''))
  const isThere = async (bytes: Uint8Array): Promise<void> => {
    const path = `/lfs/releases/objects/${oidOf(bytes)}/content`
    const told = await ask(service.address, { path, credential: service.credential() })
    assert.ok(told.bytes.equals(bytes), told.text.slice(0, 200))
  }

  test('takes what Git names, and nothing twice', async () => {
    const desk: GitDesk = await sitDownWithGit('import')
    await desk.keepPassword(other.address, other.credential())
    const from = `${other.address}/lfs/releases/game`
    const remote = await newGitRemote(desk, 'game', from)
    const folder = await desk.clone(remote, 'game')
    const objects = [...Array.from({ length: 130 }, (_, at) => Buffer.from(`object ${at}`)), randomBytes(3_000_000)]
    await desk.commit(folder, Object.fromEntries(objects.map((bytes, at) => [`${at}.bin`, bytes])))
    // The same bytes at two paths are one object.
    await desk.commit(folder, { 'again.bin': objects[0] ?? '' })
    await desk.git(folder, 'push', '--quiet', 'origin', 'main')

    const list = await listOf(await desk.git(folder, 'lfs', 'ls-files', '--all', '--json'))
    const args = [...list, ...here, '--password-file', passwordFile]
    const first = await run(from, ...args)
    assert.equal(first.code, 0, first.stdout + first.stderr)
    assert.match(first.stdout, /^131 imported, 0 were there already, 0 failed$/m)
    for (const bytes of objects) await isThere(bytes)
    assert.match((await run(from, ...args)).stdout, /^0 imported, 131 were there already, 0 failed$/m)

    // As the guide has it, in one line.
    const pipe =
      'git lfs ls-files --all --json | "$0" "$1" lfs import releases "$2" --objects - --allow-private 127.0.0.1'
    const piped = await runProgram(
      'bash',
      ['-c', `${pipe} --password-file "$3"`, process.execPath, svcFile, from, passwordFile],
      { ...desk.environment, ...settings() },
      { cwd: folder },
    )
    assert.match(piped.stdout, /^0 imported, 131 were there already, 0 failed$/m, piped.stderr)
    await desk[Symbol.asyncDispose]()
  })

  test('says what it needs, and why the other server refuses', async () => {
    const from = `${other.address}/lfs/releases`
    const list = await linesOf([Buffer.from('wanted')])
    const cases: [readonly string[], RegExp][] = [
      [[from], /say which, such as: git lfs ls-files --all --json/],
      [[from, ...list], /--allow-private/],
      [[from, ...list, ...here], /refuses \(401\).*--password-file/],
      [[`${other.address}/elsewhere`, ...list, ...here], /answers 404/],
      [['http://192.0.2.1/lfs', ...list, '--allow-private', '192.0.2.0/24'], /--plain-http/],
      [[from, ...list, '--allow-private', 'everything'], /--allow-private: .*no network/],
      [[from, ...list, '--password-file', join(service.folder, 'nowhere')], /cannot be read/],
      [[from, ...list, '--ca-file', passwordFile], /--ca-file: .*no certificate/],
      [[from, '--objects', passwordFile], /line 1 of the list is not/],
      [[from, ...(await listOf('{"files":1}'))], /is JSON, and not what/],
    ]
    for (const [args, said] of cases) {
      const told = await run(...(args as [string, ...string[]]))
      assert.notEqual(told.code, 0)
      assert.match(told.stderr, said)
      assert.ok(!told.stderr.includes(other.credential()))
    }
  })

  describe('that lies', () => {
    let address: string
    let answer: (request: IncomingMessage, response: ServerResponse) => void
    const seen: IncomingMessage[] = []
    const server = createServer((request, response) => {
      seen.push(request)
      answer(request, response)
    })
    before(async () => {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    after(() => {
      server.closeAllConnections()
      server.close()
    })

    /** Says of each object that it is somewhere; what is asked for there is for the test to say. */
    const saying =
      (hrefOf: (oid: string) => string, serve: (oid: string, response: ServerResponse) => void = () => {}) =>
      (request: IncomingMessage, response: ServerResponse): void => {
        if (request.method !== 'POST') {
          serve(request.url?.slice(1) ?? '', response)
          return
        }
        const pieces: Buffer[] = []
        request.on('data', (piece: Buffer) => pieces.push(piece))
        request.on('end', () => {
          const asked: { objects: { oid: string; size: number }[] } = JSON.parse(Buffer.concat(pieces).toString())
          const header = { Authorization: 'Basic secret', Host: 'elsewhere', 'Content-Length': '7' }
          const objects = asked.objects.map(({ oid, size }) => ({
            ...{ oid, size, unknown: true },
            actions: { download: { href: hrefOf(oid), header } },
          }))
          response.writeHead(200, { 'content-type': lfsType }).end(JSON.stringify({ objects, transfer: 'basic' }))
        })
      }

    test('brings in nothing but what was asked for', async () => {
      const fine = Buffer.from('fine')
      const wrong = Buffer.from('wanted as it is called')
      const cut = randomBytes(200_000)
      answer = saying(
        (oid) => `${address}/${oid}`,
        (oid, response) => {
          if (oid === oidOf(fine)) response.end(fine)
          else if (oid === oidOf(wrong)) response.end('x'.repeat(wrong.byteLength))
          else {
            response.writeHead(200, { 'content-length': cut.byteLength })
            response.write(cut.subarray(0, 100_000), () => response.destroy())
          }
        },
      )
      const told = await run(address, ...(await linesOf([wrong, fine, cut])), ...here)
      assert.equal(told.code, 1)
      assert.match(told.stdout, new RegExp(`^${oidOf(wrong)}: .*SHA-256`, 'm'))
      assert.match(told.stdout, new RegExp(`^${oidOf(cut)}: it could not be sent \\(.*(?:cut|ended)`, 'm'))
      assert.match(told.stdout, /^1 imported, 0 were there already, 2 failed$/m)
      await isThere(fine)
      const again = await run(address, ...(await linesOf([fine])), ...here)
      assert.match(again.stdout, /^0 imported, 1 were there already, 0 failed$/m)
    })

    test('leads nobody inward, and hands no credential on', async () => {
      const bytes = Buffer.from('somewhere else')
      for (const href of [
        'http://169.254.169.254/latest/meta-data',
        'http://10.0.0.1/',
        'file:///etc/passwd',
        'no address',
      ])
        for (const by of href === 'no address' ? (['href'] as const) : (['href', 'redirect'] as const)) {
          answer =
            by === 'href'
              ? saying(() => href)
              : saying(
                  (oid) => `${address}/${oid}`,
                  (_, response) => void response.writeHead(302, { location: href }).end(),
                )
          const told = await run(address, ...(await linesOf([bytes])), ...here)
          assert.equal(told.code, 1)
          assert.match(
            told.stdout,
            new RegExp(`^${oidOf(bytes)}: .*(?:link-local|private|no address|is none of|cloud|TLS)`, 'm'),
          )
        }
      const elsewhere = createServer((request, response) => {
        seen.push(request)
        response.end(bytes)
      }).listen(0, '127.0.0.1')
      await once(elsewhere, 'listening')
      const { port } = elsewhere.address() as AddressInfo
      answer = saying(
        (oid) => `${address}/${oid}`,
        (_, response) => void response.writeHead(307, { location: `http://127.0.0.1:${port}/there` }).end(),
      )
      seen.length = 0
      const told = await run(address, ...(await linesOf([bytes])), ...here, '--password-file', passwordFile)
      assert.equal(told.code, 0, told.stdout)
      await isThere(bytes)
      const [batch, first, second] = seen
      assert.match(batch?.headers.authorization ?? '', /^Basic /)
      assert.equal(first?.headers.authorization, 'Basic secret')
      assert.equal(first?.headers.host, new URL(address).host)
      assert.deepEqual([second?.url, second?.headers.authorization], ['/there', undefined])
      elsewhere.close()
    })

    test('is told of where it answers with what is no answer', async () => {
      const list = await linesOf([Buffer.from('never')])
      const never = oidOf(Buffer.from('never'))
      for (const [say, said] of [
        [(_: IncomingMessage, response: ServerResponse) => void response.end('<html>'), /no server of Git LFS/],
        [(_: IncomingMessage, response: ServerResponse) => void response.end('x'.repeat(5_000_000)), /larger|bytes/],
        [
          (_: IncomingMessage, response: ServerResponse) =>
            void response.writeHead(500).end('{"message":"\u001b[31mno"}'),
          /answers 500/,
        ],
      ] as const) {
        answer = say
        const told = await run(address, ...list, ...here)
        assert.notEqual(told.code, 0)
        assert.match(told.stderr, said)
        assert.ok(!told.stderr.includes('\u001b'))
      }
      answer = (_, response) => void response.end('{"objects":[]}')
      assert.match(
        (await run(address, ...list, ...here)).stdout,
        new RegExp(`^${never}: the other server says nothing`, 'm'),
      )
    })
  })

  test('takes a folder over by a list, too', async () => {
    const [wanted, absent] = [randomBytes(500), randomBytes(500)]
    const folder = join(service.folder, 'store')
    await mkdir(folder)
    for (const bytes of [wanted, randomBytes(500)]) await writeFile(join(folder, oidOf(bytes)), bytes)
    const told = await run(folder, ...(await linesOf([wanted, absent])))
    assert.match(told.stdout, new RegExp(`^${oidOf(absent)}: no file below`, 'm'))
    assert.match(told.stdout, /^1 imported, 0 were there already, 1 failed$/m)
    await isThere(wanted)
  })
})
