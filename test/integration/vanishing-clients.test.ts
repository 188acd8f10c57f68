import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { KiB } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addPackage } from '../harness/packages.ts'
import { fileOfParts, openSession, partOf, sendPart } from '../harness/parts.ts'
import { createOwner, type Person } from '../harness/people.ts'
import { newFile, sendContent } from '../harness/publishing.ts'
import { randomOf } from '../harness/random.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { type Moment, vanish, waysToGo } from '../harness/vanishing-client.ts'

after(closeConnections)

const repository = '/api/v1/repositories/releases'
const raw = `${repository}/raw`
/** Around what leaves in one piece, what is read ahead, and what the buffers between hold. */
const sizes = [9, 40 * KiB, 100 * KiB, 300 * KiB, 3000 * KiB]
/** Clients that go away on each engine, and at once. More are for a night: SVC_TEST_VANISHING=20000. */
const rounds = Number(process.env['SVC_TEST_VANISHING'] ?? 300)
const atOnce = 16
/** Long rounds take as long as they take. */
const timeout = 120_000 + rounds * 200

interface Request {
  readonly head: string
  readonly body: Uint8Array
  /** Bytes that the answer may have. */
  readonly answers: number
}

forEachEngine((engine) => {
  describe('clients that go away in the middle', { timeout }, () => {
    let service: TestService
    let owner: Person
    const downloads: { path: string; bytes: number; open?: true }[] = []
    let whole: string
    let inParts: string
    const partial = fileOfParts('in-parts', 2)
    const wholeFile = newFile('whole', randomBytes(700 * KiB))

    before(async () => {
      service = await startService(engine, { settings: { SVC_DOWNLOAD_SLOTS: '4' } })
      owner = await createOwner(service)
      const credential = owner.token
      for (const bytes of sizes) {
        const body = randomBytes(bytes)
        const put = await service.ask({ method: 'PUT', path: `${raw}/of-${bytes}`, credential, body })
        assert.equal(put.status, 201)
        const content = `${repository}/artifacts/${put.json.artifact.id}/content`
        const link = await service.ask({
          path: content.replace('/content', '/links'),
          credential,
          json: {},
        })
        assert.equal(link.status, 201)
        downloads.push(
          { path: `${raw}/of-${bytes}`, bytes },
          { path: `${repository}/asset/content?path=of-${bytes}`, bytes },
          { path: content, bytes },
          { path: `${content}?token=${link.json.token}`, bytes, open: true },
        )
      }
      await addPackage(service, credential, 'releases', { name: 'pack', version: '1.0.0' })
      downloads.push({ path: `${repository}/packages/content?name=pack&version=1.0.0`, bytes: 400 })
      whole = await openSession(service, credential, 'releases', wholeFile)
      inParts = await openSession(service, credential, 'releases', partial)
    })
    after(() => service.stop())

    /** What the service holds for requests. At rest all of it is zero. */
    const held = async (): Promise<Readonly<Record<string, number>>> => {
      const { json } = await service.ask({ path: '/health/ready', credential: service.healthKey })
      const { text } = await service.ask({ path: '/health/metrics', credential: service.healthKey })
      const metric = (name: string): number =>
        Number(
          text
            .split('\n')
            .find((line) => line.startsWith(name))
            ?.split(' ')[1],
        )
      const { uploads, downloads } = json.transfers
      return {
        uploads: uploads.admission.active,
        downloads: downloads.admission.active,
        slots: downloads.admission.held,
        waiting: downloads.admission.waiting,
        sessions: downloads.sessions.open,
        in: metric('svc_transfers_active{direction="in"}'),
        out: metric('svc_transfers_active{direction="out"}'),
        feeds: metric('svc_changes_waiting'),
        files: openFiles(),
        connections: connections(),
      }
    }

    /** Files below its folder that it has open, apart from its database and lock. */
    const openFiles = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          const path = readlinkSync(`/proc/self/fd/${fd}`)
          return path.startsWith(`${service.dataDir}/blobs`)
        } catch {
          return false
        }
      }).length

    /** Connections of the service, apart from the one that asks. */
    const connections = (): number => {
      const port = Number(new URL(service.url).port).toString(16).toUpperCase().padStart(4, '0')
      const open = readFileSync('/proc/net/tcp', 'utf8')
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        // ESTABLISHED and CLOSE_WAIT: the others are the system's.
        .filter(([, local, , state]) => local?.endsWith(`:${port}`) === true && (state === '01' || state === '08'))
      return Math.max(0, open.length - 1)
    }

    const getting = (random: () => number): Request => {
      const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)]
      const { path, bytes, open } = pick(downloads) ?? { path: '/', bytes: 0 }
      const credential = open === true ? '' : `Authorization: Bearer ${owner.token}\r\n`
      const method = random() < 0.1 ? 'HEAD' : 'GET'
      const range = random() < 0.3 ? `Range: bytes=${Math.floor(random() * bytes)}-\r\n` : ''
      const id = random() < 0.04 ? `Svc-Download-Id: vanishing-${Math.floor(random() * 1e9)}-000000\r\n` : ''
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${credential}${range}${id}\r\n`
      return { head, body: Buffer.alloc(0), answers: bytes }
    }

    const feeding = (): Request => ({
      head: `GET ${repository}/changes?wait=30 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`,
      body: Buffer.alloc(0),
      answers: 200,
    })

    const putting = (random: () => number, round: number): Request => {
      const kind = Math.floor(random() * 3)
      const [path, body, more] =
        kind === 0
          ? [`${raw}/sent-${round}`, randomBytes(Math.floor(random() * 600 * KiB)), '']
          : kind === 1
            ? [`${whole}/content`, wholeFile.bytes, '']
            : [`${inParts}/parts/0`, partOf(partial, 0), `X-Content-Sha256: ${'0'.repeat(64)}\r\n`]
      const chunked = random() < 0.5
      const framing = chunked ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${body.byteLength}\r\n`
      const head = `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.token}\r\nContent-Type: application/octet-stream\r\n${more}${framing}\r\n`
      const sent = chunked
        ? Buffer.concat([Buffer.from(`${body.byteLength.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
        : body
      // Whole files would be published, and there would be nothing left to cut.
      return {
        head,
        body: kind === 0 ? sent : sent.subarray(0, Math.floor(random() * body.byteLength * 0.9)),
        answers: 300,
      }
    }

    const one = async (round: number): Promise<void> => {
      const random = randomOf(`${engine.name} ${round}`)
      const dice = random()
      const { head, body, answers } = dice < 0.6 ? getting(random) : dice < 0.65 ? feeding() : putting(random, round)
      const text = Buffer.concat([Buffer.from(head), body])
      const kinds: readonly Moment[] = [
        { kind: 'sent', bytes: Math.floor(random() * (text.byteLength + 1)) },
        { kind: 'turns', rounds: Math.floor(random() * 12) },
        { kind: 'received', bytes: Math.floor(random() * (answers + 300)) },
      ]
      // What has not sent all it promised gets no answer to wait for.
      const possible = dice < 0.6 ? kinds : kinds.slice(0, 2)
      const moment = possible[Math.floor(random() * possible.length)] ?? { kind: 'turns', rounds: 0 }
      const way = waysToGo[Math.floor(random() * waysToGo.length)] ?? 'resets'
      await vanish(service.url, text, way, moment)
    }

    it(`leave nothing behind, ${rounds} of them on every route that moves bytes, and the next one is served at once`, {
      timeout,
    }, async () => {
      let next = 0
      const client = async (): Promise<void> => {
        while (next < rounds) await one(next++)
      }
      await Promise.all(Array.from({ length: atOnce }, client))
      let last = {}
      await until('nothing is held any more', async () => {
        last = await held()
        return Object.values(last).every((count) => count === 0)
      }).catch((error: unknown) => {
        throw new Error(`held: ${JSON.stringify(last)}`, { cause: error })
      })
      const credential = owner.token
      for (const { path, bytes, open } of downloads) {
        const told = await service.ask(open === true ? { path } : { path, credential })
        assert.equal(told.status, 200)
        if (bytes !== 400) assert.equal(told.bytes.byteLength, bytes)
      }
      assert.equal((await sendContent(service, credential, whole, wholeFile.bytes)).status, 200)
      assert.equal((await sendPart(service, credential, inParts, 0, partOf(partial, 0))).status, 204)
      assert.deepEqual(
        service.log.filter((line) => line.includes('"level":"error"')),
        [],
      )
    })
  })
})
