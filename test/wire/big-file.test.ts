import assert from 'node:assert/strict'
import { createCipheriv, createHash } from 'node:crypto'
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, before, describe, type TestContext, test } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { askDoctor, endProgramsAfterTests, peakMiBOf, runProgram } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const mebibyte = 1024 * 1024
/** `SVC_TEST_BIG_BYTES` is for a run by hand with what the disk can take: it must hold three times as much. */
const bigBytes = Number(process.env['SVC_TEST_BIG_BYTES'] ?? 1024 * mebibyte)
const smallBytes = 64 * mebibyte
assert.ok(
  Number.isSafeInteger(bigBytes) && bigBytes >= 8 * mebibyte,
  'SVC_TEST_BIG_BYTES is a number of bytes, 8 MiB or more',
)

/** Far more than a run at the slowest sensible speed needs. */
const timeout = 120_000 + (bigBytes / mebibyte) * 200

describe('a file far larger than memory should be', { timeout }, () => {
  let service: LoneService
  let api: string

  before(async () => {
    service = await startLoneService('big')
    api = `${service.address}/api/v1/repositories/releases`
  })
  after(() => service[Symbol.asyncDispose]())

  /** A file of bytes that no compression and no sparse block can shrink; answers its SHA-256. */
  const makeFile = async (path: string, size: number, seed: number): Promise<string> => {
    const cipher = createCipheriv('aes-128-ctr', Buffer.from(String(seed).padStart(16, '0')), Buffer.alloc(16))
    const zeros = Buffer.alloc(mebibyte)
    const sha256 = createHash('sha256')
    const pieces = function* (): Generator<Buffer> {
      for (let left = size; left > 0; left -= zeros.length) {
        const piece = cipher.update(zeros.subarray(0, Math.min(left, zeros.length)))
        sha256.update(piece)
        yield piece
      }
    }
    await pipeline(Readable.from(pieces()), createWriteStream(path))
    return sha256.digest('hex')
  }

  const shell = async (script: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runProgram('bash', ['-euo', 'pipefail', '-c', script, 'bash', ...args])
    assert.equal(code, 0, `${script}\n${stdout}${stderr}`)
    return stdout.trim()
  }
  const authorization = (): string => `Authorization: Bearer ${service.credential()}`
  const curl = (...args: string[]): Promise<string> =>
    shell('curl --fail-with-body -sS -H "$@"', authorization(), '-H', 'Content-Type: application/octet-stream', ...args)
  const sha256Of = async (url: string): Promise<string> =>
    (await shell('curl --fail-with-body -sS -H "$1" "$2" | sha256sum', authorization(), url)).slice(0, 64)

  const sha256OfPart = async (path: string, start: number, length: number): Promise<string> => {
    const sha256 = createHash('sha256')
    for await (const piece of createReadStream(path, { start, end: start + length - 1 })) sha256.update(piece as Buffer)
    return sha256.digest('hex')
  }

  const peakMemory = (): number => peakMiBOf(service.program)

  const throughRawPut = async (file: string, name: string): Promise<string> => {
    const url = `${api}/raw/${name}`
    await curl('-T', file, '-o', '/dev/null', url)
    return url
  }
  const throughSession = async (file: string, name: string, size: number, sha256: string): Promise<string> => {
    const opened = await shell(
      'curl --fail-with-body -sS -H "$1" -H "Content-Type: application/json" -H "Idempotency-Key: $2" -d "$3" "$4/uploads"',
      authorization(),
      name,
      JSON.stringify({ name, size: String(size), sha256 }),
      api,
    )
    const { id } = JSON.parse(opened) as { id: string }
    const published = JSON.parse(await curl('-T', file, `${api}/uploads/${id}/content`)) as { status: string }
    assert.equal(published.status, 'available')
    return `${api}/artifacts/${id}/content`
  }

  const timed = async <T>(context: TestContext, what: string, size: number, work: () => Promise<T>): Promise<T> => {
    const begun = performance.now()
    const done = await work()
    const seconds = (performance.now() - begun) / 1000
    context.diagnostic(`${what}: ${seconds.toFixed(1)} s, ${(size / mebibyte / seconds).toFixed(0)} MiB/s`)
    return done
  }

  test('comes back bit by bit, whole and in parts, and the memory of the server does not grow with it', async (t) => {
    const file = join(service.folder, 'file')
    let afterSmall = 0
    for (const [name, size] of [
      ['small', smallBytes],
      ['big', bigBytes],
    ] as const) {
      for (const way of ['put', 'session'] as const) {
        const what = `${name} ${way}`
        // Other bytes each time, so that nothing is there already.
        const sha256 = await makeFile(file, size, 2 * size + (way === 'put' ? 0 : 1))
        const url = await timed(t, `${what}, up`, size, () =>
          way === 'put' ? throughRawPut(file, name) : throughSession(file, name, size, sha256),
        )
        assert.equal(await timed(t, `${what}, down`, size, () => sha256Of(url)), sha256, what)
        await checkRanges(url, file, size)
        await rm(file)
      }
      t.diagnostic(`peak memory after ${name}: ${peakMemory().toFixed(0)} MiB`)
      if (name === 'small') afterSmall = peakMemory()
    }
    assert.ok(peakMemory() < 400, `the server took ${peakMemory()} MiB`)
    assert.ok(peakMemory() - afterSmall < 150, `from ${afterSmall} MiB it grew to ${peakMemory()} MiB`)

    assert.deepEqual((await askDoctor(service.settings)).damage, [])
    const { program } = service
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null }, program.stderr())
  })

  const checkRanges = async (url: string, file: string, size: number): Promise<void> => {
    const middle = Math.floor(size / 2) - 12_345
    const long = Math.min(size / 8, 16 * mebibyte) + 1
    for (const [range, start, length] of [
      ['0-0', 0, 1],
      [`0-${long - 1}`, 0, long],
      [`${middle}-${middle + long - 1}`, middle, long],
      [`${size - 1}-${size - 1}`, size - 1, 1],
      [`${size - long}-${size + 4711}`, size - long, long],
      [`-${long}`, size - long, long],
      [`${size - 99_999}-`, size - 99_999, 99_999],
    ] as const) {
      const head = join(service.folder, 'head')
      const got = await shell(
        'curl --fail-with-body -sS -D "$4" -H "$1" -H "Range: bytes=$3" "$2" | sha256sum',
        authorization(),
        url,
        range,
        head,
      )
      assert.equal(got.slice(0, 64), await sha256OfPart(file, start, length), `bytes=${range}`)
      const headers = readFileSync(head, 'utf8')
      assert.match(headers, /^HTTP\/1\.1 206 /)
      assert.match(headers, new RegExp(`^content-range: bytes ${start}-${start + length - 1}/${size}\r$`, 'im'))
    }
  }
})
