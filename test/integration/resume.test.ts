import assert from 'node:assert/strict'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { get } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { MiB } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'
const etagOf = (bytes: Buffer): string => `"sha256:${createHash('sha256').update(bytes).digest('hex')}"`

interface Got {
  readonly status: number
  readonly etag: string | undefined
  readonly bytes: Buffer
}

/** Fetches from a byte on, and hangs up after so many. What came until then is kept, as a client does that resumes. */
const fetchSome = (
  service: TestService,
  who: Person,
  path: string,
  headers: Record<string, string>,
  most: number,
): Promise<Got> =>
  new Promise((resolve, reject) => {
    const asked = get(
      `${service.url}${raw}/${path}`,
      { agent: false, headers: { authorization: `Bearer ${who.token}`, ...headers } },
      (answer) => {
        const pieces: Buffer[] = []
        let bytes = 0
        const done = (): void =>
          resolve({
            status: answer.statusCode ?? 0,
            etag: answer.headers.etag,
            bytes: Buffer.concat(pieces).subarray(0, most),
          })
        answer.on('data', (piece: Buffer) => {
          pieces.push(piece)
          bytes += piece.byteLength
          if (bytes >= most) asked.destroy()
        })
        answer.on('close', done)
        answer.on('error', () => {})
      },
    )
    asked.on('error', (error) => {
      if (!asked.destroyed) reject(error)
    })
  })

forEachEngine((engine) => {
  describe('a download that is cut and resumed', () => {
    let service: TestService
    let owner: Person
    before(async () => {
      service = await startService(engine)
      owner = await createOwner(service)
    })
    after(() => service.stop())

    const put = async (path: string, body: Buffer): Promise<void> => {
      const told = await service.ask({ method: 'PUT', path: `${raw}/${path}`, credential: owner.token, body })
      assert.ok(told.status < 300, told.text)
    }

    it('is bit-exact, wherever it was cut, also when the service starts anew in between', async () => {
      const file = randomBytes(9 * MiB + 17)
      await put('cut', file)
      const download = { 'svc-download-id': 'resumed-many-times' }
      let have = Buffer.alloc(0)
      let etag: string | undefined
      let cuts = 0
      while (have.byteLength < file.byteLength) {
        const resumed = etag === undefined ? {} : { range: `bytes=${have.byteLength}-`, 'if-range': etag }
        const got = await fetchSome(service, owner, 'cut', { ...download, ...resumed }, randomInt(1, 2 * MiB))
        assert.equal(got.status, etag === undefined ? 200 : 206)
        etag = got.etag
        have = Buffer.concat([have, got.bytes])
        cuts += 1
        if (cuts % 3 === 0) await service.restart()
      }
      assert.ok(cuts > 4)
      assert.equal(etag, etagOf(file))
      assert.ok(have.equals(file), 'what was put together is not the file')
    })

    it('gives the whole new file when the path was replaced in between, never a mixture', async () => {
      const [old, young] = [randomBytes(3 * MiB), randomBytes(2 * MiB)]
      await put('replaced', old)
      const first = await fetchSome(service, owner, 'replaced', {}, MiB)
      assert.ok(first.bytes.equals(old.subarray(0, MiB)))
      await put('replaced', young)
      const headers = { range: `bytes=${MiB}-`, 'if-range': String(first.etag) }
      const second = await fetchSome(service, owner, 'replaced', headers, old.byteLength)
      assert.deepEqual([second.status, second.etag], [200, etagOf(young)])
      assert.ok(second.bytes.equals(young))
    })

    it('goes on with the old file when it is replaced while it is being sent', async () => {
      const [old, young] = [randomBytes(24 * MiB), randomBytes(MiB)]
      await put('while', old)
      const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>()
      const whole = new Promise<Buffer>((resolve, reject) => {
        get(
          `${service.url}${raw}/while`,
          { agent: false, headers: { authorization: `Bearer ${owner.token}` } },
          (answer) => {
            const pieces: Buffer[] = []
            answer.once('data', (piece: Buffer) => {
              pieces.push(piece)
              answer.pause()
              hasBegun()
              void put('while', young).then(() => {
                answer.on('data', (next: Buffer) => pieces.push(next))
                answer.on('end', () => resolve(Buffer.concat(pieces)))
                answer.resume()
              }, reject)
            })
          },
        ).on('error', reject)
      })
      await begun
      assert.ok((await whole).equals(old))
      const { bytes } = await service.ask({ path: `${raw}/while`, credential: owner.token })
      assert.ok(bytes.equals(young))
    })
  })
})
