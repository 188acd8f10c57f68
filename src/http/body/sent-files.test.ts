import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { bareHttpParts, knownSecret } from '../../../test/harness/bare-http.ts'
import { ask, closeConnections } from '../../../test/harness/client.ts'
import { bytesBody, defineOperation } from '../../contract/define.ts'
import { handle } from '../../contract/handler.ts'
import type { BodyKind } from '../../contract/operation.ts'
import { heldBodiesBytesMax } from '../../kernel/limits/http.ts'
import { createHttpServer, type HttpServer } from '../server.ts'
import type { UploadLine } from './upload-line.ts'

const keep = <Body extends BodyKind>(id: string, body: Body) =>
  defineOperation({
    id,
    method: 'PUT',
    path: `/${id}`,
    summary: 'Keep a small document',
    surface: 'transfers',
    visibility: 'authenticated',
    access: { kind: 'credential' },
    retry: 'idempotent',
    body,
    responses: { 201: { description: 'What was sent', schema: null, mediaType: '*/*' } },
  })

describe('a small body', () => {
  let server: HttpServer
  let url: string
  let performed = 0
  before(async () => {
    const operations = [
      keep('any', bytesBody(null, 100_000)),
      keep('documents', bytesBody(['application/vnd.example.document'])),
    ].map((operation) =>
      handle(operation, async ({ body }) => {
        performed += 1
        return { status: 201, text: body.bytes, headers: { 'content-type': body.mediaType || 'none' } }
      }),
    )
    server = await createHttpServer(bareHttpParts({ operations }))
    url = await server.listen('127.0.0.1', 0)
  })
  after(async () => {
    closeConnections()
    await server.close()
  })

  const put = (path: string, body: Uint8Array | Readable, headers: Readonly<Record<string, string>> = {}) =>
    ask(url, { method: 'PUT', path, credential: knownSecret, headers, body })

  it('reaches its handler byte by byte, whatever it is called, and comes back so', async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from([0xff, 0xfe, 0, 10, 13]), randomBytes(100_000)])
      for (const type of ['application/json', 'Text/HTML; charset="x"', 'application/vnd.example+json', ''])
        for (const body of [bytes, Readable.from([bytes.subarray(0, 3), bytes.subarray(3)])]) {
          const told = await put('/any', body, type === '' ? {} : { 'content-type': type })
          assert.deepEqual([told.status, told.headers['content-type']], [201, type || 'none'])
          assert.ok(told.bytes.equals(bytes))
        }
  })

  it('waits for no file that others send', async () => {
    const full: UploadLine = { enter: () => Promise.reject(new Error('a small body stood in the line of files')) }
    const operation = handle(keep('any', bytesBody(null)), async ({ body }) => ({
      status: 201,
      text: body.bytes,
      headers: {},
    }))
    const busy = await createHttpServer(bareHttpParts({ operations: [operation], uploads: full }))
    const at = await busy.listen('127.0.0.1', 0)
    try {
      const told = await ask(at, { method: 'PUT', path: '/any', credential: knownSecret, body: Buffer.from('small') })
      assert.deepEqual([told.status, told.text], [201, 'small'])
    } finally {
      closeConnections()
      await busy.close()
    }
  })

  it('is shown to no browser as a page', async () => {
    const told = await put('/any', Buffer.from('<script>'), { 'content-type': 'text/html' })
    assert.equal(told.headers['x-content-type-options'], 'nosniff')
    assert.equal(told.headers['content-security-policy'], "sandbox; default-src 'none'; frame-ancestors 'none'")
  })

  it('is refused when it is too long, of another type, a part, or not what its headers say, before it is looked at', async () => {
    const before = performed
    const much = randomBytes(100_001)
    const little = Buffer.from('little')
    const wrong = hash('sha256', 'other', 'base64')
    for (const [path, body, headers, status, code] of [
      ['/any', much, {}, 413, 'body_too_large'],
      ['/any', Readable.from([much]), {}, 413, 'body_too_large'],
      ['/documents', little, { 'content-type': 'application/json' }, 415, 'unsupported_media_type'],
      ['/documents', little, {}, 415, 'unsupported_media_type'],
      ['/any', little, { 'content-range': 'bytes 0-5/10' }, 400, 'invalid_request'],
      ['/any', little, { 'if-match': '"a"' }, 412, 'precondition_failed'],
      ['/any', little, { 'content-digest': `sha-256=:${wrong}:` }, 422, 'checksum_mismatch'],
    ] as const) {
      const told = await put(path, body, headers)
      assert.deepEqual([told.status, told.json.code], [status, code])
    }
    assert.equal(performed, before)
    const type = { 'content-type': 'Application/Vnd.Example.Document; a=b' }
    assert.equal((await put('/documents', little, type)).status, 201)
  })
})

describe('what a stream keeps in memory', () => {
  it('counts with that of all others: beyond the bound the largest that comes is cut, of whoever keeps most', async () => {
    const kept = Promise.withResolvers<void>()
    const small = handle(keep('small', { kind: 'stream', mediaTypes: null }), async ({ body }) => {
      for await (const _ of body.pieces) {
        body.keeps(heldBodiesBytesMax / 3)
        kept.resolve()
      }
      return { status: 201, text: 'small', headers: {} }
    })
    const large = handle(keep('large', { kind: 'stream', mediaTypes: null }), async ({ body }) => {
      for await (const _ of body.pieces) body.keeps(heldBodiesBytesMax)
      return { status: 201, text: 'large', headers: {} }
    })
    const server = await createHttpServer(bareHttpParts({ operations: [small, large] }))
    const url = await server.listen('127.0.0.1', 0)
    const go = Promise.withResolvers<void>()
    async function* slowly(): AsyncGenerator<Buffer> {
      yield Buffer.from('a')
      await go.promise
      yield Buffer.from('b')
    }
    const put = (path: string, body: Readable) =>
      ask(url, { method: 'PUT', path, credential: knownSecret, headers: {}, body })
    try {
      const first = put('/small', Readable.from(slowly()))
      await kept.promise
      const told = await put('/large', Readable.from(slowly()))
      assert.deepEqual([told.status, told.json.code], [503, 'busy'])
      go.resolve()
      assert.equal((await first).status, 201)
      assert.equal((await put('/small', Readable.from(['a']))).status, 201)
    } finally {
      closeConnections()
      await server.close()
    }
  })
})
