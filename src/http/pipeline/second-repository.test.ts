import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Type from 'typebox'
import { bareHttpParts, knownSecret } from '../../../test/harness/bare-http.ts'
import { type Ask, ask, closeConnections } from '../../../test/harness/client.ts'
import { answers, bytesBody, defineOperation, jsonBody } from '../../contract/define.ts'
import { handle } from '../../contract/handler.ts'
import type { SecondRepository } from '../../contract/operation.ts'
import { fields, RepositoryId } from '../../contract/schemas.ts'
import { Failure, notFound } from '../../kernel/failure.ts'
import { createHttpServer, type HttpServer } from '../server.ts'

const into = (id: string, also: SecondRepository) =>
  ({
    id,
    method: 'POST',
    path: `/${id}/{repository}`,
    summary: 'Go between two repositories',
    surface: 'catalog',
    visibility: 'repository',
    access: { kind: 'repository', actions: ['artifact.read'], also },
    retry: 'idempotent',
    pathParameters: fields({ repository: Type.String() }),
    responses: { 200: answers('Whether the second was open', fields({ mayAlso: Type.Boolean() })) },
  }) as const

const inBody = defineOperation({
  ...into('body', { at: '/target', actions: ['artifact.promote'] }),
  body: jsonBody(fields({ target: RepositoryId })),
})
const inQuery = defineOperation({
  ...into('query', { at: '/query/from', actions: ['content.read'], refusal: 'told' }),
  query: fields({ from: Type.Optional(Type.String()) }),
  body: bytesBody(null),
})

describe('a second repository', () => {
  const asked: string[] = []
  let performed = 0
  let server: HttpServer
  let url: string
  before(async () => {
    const perform = async ({ mayAlso }: { readonly mayAlso: boolean }) => {
      performed += 1
      return { status: 200, json: { mayAlso } } as const
    }
    const deps = bareHttpParts({ operations: [handle(inBody, perform), handle(inQuery, perform)] })
    const authorizeAlso = async (_: unknown, { actions }: SecondRepository, repository: string): Promise<void> => {
      asked.push(`${actions.join()} on ${repository}`)
      if (repository === 'hidden') throw notFound('repository')
      if (repository === 'closed') throw new Failure('permission_missing', 'No.')
      if (repository === 'broken') throw new Failure('unavailable', 'Later.')
    }
    server = await createHttpServer({ ...deps, gate: { ...deps.gate, authorizeAlso } })
    url = await server.listen('127.0.0.1', 0)
  })
  after(async () => {
    closeConnections()
    await server.close()
  })

  const post = async (given: Omit<Ask, 'credential'>) => {
    asked.length = 0
    const { status, json } = await ask(url, { method: 'POST', credential: knownSecret, ...given })
    return [status, status === 200 ? json.mayAlso : json.code]
  }

  it('is asked about where the rule says that it stands, once the input is valid', async () => {
    assert.deepEqual(await post({ path: '/body/here', json: { target: 'open' } }), [200, true])
    assert.deepEqual(asked, ['artifact.promote on open'])
    assert.deepEqual(await post({ path: '/body/here', json: { target: 'NO ID' } }), [400, 'invalid_request'])
    assert.deepEqual(asked, [])
  })

  it('closes the operation to who may not there', async () => {
    const before = performed
    assert.deepEqual(await post({ path: '/body/here', json: { target: 'closed' } }), [403, 'permission_missing'])
    assert.deepEqual(await post({ path: '/body/here', json: { target: 'hidden' } }), [404, 'not_found'])
    assert.equal(performed, before)
  })

  it('is told of where the rule says so, and is asked about again when the body is whole', async () => {
    const body = Buffer.from('some')
    assert.deepEqual(await post({ path: '/query/here?from=open/some/name', body }), [200, true])
    assert.deepEqual(asked, ['content.read on open', 'content.read on open'])
    for (const from of ['closed', 'hidden/name'])
      assert.deepEqual(await post({ path: `/query/here?from=${from}`, body }), [200, false], from)
    assert.deepEqual(await post({ path: '/query/here', body }), [200, false])
    assert.deepEqual(asked, [])
    assert.deepEqual(await post({ path: '/query/here?from=broken', body }), [503, 'unavailable'])
  })

  it('has to stand where something is declared', () => {
    for (const at of ['/from', '/query/to', '/headers/from', 'from', '/query/from/deep'])
      assert.throws(
        () =>
          defineOperation({
            ...into('wrong', { at, actions: ['content.read'] }),
            query: fields({ from: Type.Optional(Type.String()) }),
          }),
        /nothing is declared at/,
        at,
      )
  })
})
