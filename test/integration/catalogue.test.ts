import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requiredActions } from '../../src/contract/operation.ts'
import { compileOperation } from '../../src/http/pipeline/pipeline.ts'
import { failures } from '../../src/kernel/failure.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { anonymous, endpointsOfOurs, specifiedEndpoints } from './endpoints.ts'
import { endpointsToCome } from './endpoints-to-come.ts'
import {
  forAnyCredential,
  forEveryReader,
  forEverySession,
  idsOf,
  open,
  operations,
  readActions,
} from './every-operation.ts'
import { statusOfCode } from './reason-codes.ts'

/** Administrators look after repositories, and after where they look through to; what is in them is not theirs. */
const forAdministrators: ReadonlySet<string> = new Set([
  'deleteRepository',
  'getNpmUpstream',
  'putNpmUpstream',
  'deleteNpmUpstream',
  'dropCachedNpmPackages',
])

describe('the schemas of every operation', () => {
  it('compile, although a service compiles them when they are first needed', () => {
    for (const operation of catalogue()) assert.ok(compileOperation(operation), operation.id)
  })
})

describe('the catalogue and the specification', () => {
  const declared = new Set(operations.map(({ method, path }) => anonymous(`${method} ${path}`)))
  const rows = [...specifiedEndpoints, ...endpointsOfOurs]

  it('declares every row of the endpoint tables, apart from those to come', () => {
    const missing = rows.filter((row) => !declared.has(anonymous(row)) && !endpointsToCome.includes(row))
    assert.deepEqual(missing, [])
  })

  it('leaves nothing on the list of what is to come that is there, or that nobody asked for', () => {
    assert.deepEqual(
      endpointsToCome.filter((row) => declared.has(anonymous(row))),
      [],
    )
    assert.deepEqual(
      endpointsToCome.filter((row) => !rows.includes(row)),
      [],
    )
    assert.equal(new Set(endpointsToCome).size, endpointsToCome.length)
  })

  it('declares nothing that no row speaks of', () => {
    const known = new Set(rows.map(anonymous))
    assert.deepEqual(
      [...declared].filter((row) => !known.has(row)),
      [],
    )
  })

  it('has each id once, and each method of a path once', () => {
    assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length)
    assert.equal(declared.size, operations.length)
  })

  it('answers with reason codes of the status that the documents give them', () => {
    for (const [code, [status]] of Object.entries(failures)) assert.equal(status, statusOfCode[code], code)
  })

  it('lists exactly the exceptions that there are', () => {
    const ofKind = (kind: string) => operations.filter(({ access }) => access.kind === kind)
    assert.deepEqual(idsOf(ofKind('anyone')), [...open].sort())
    const any = [...ofKind('credential'), ...ofKind('visible')]
    assert.deepEqual(idsOf(any), [...forAnyCredential].sort())
    assert.deepEqual(idsOf(ofKind('session')), [...forEverySession].sort())
    const readable = ofKind('repository').filter(
      ({ access }) =>
        access.kind === 'repository' &&
        access.oneOf === undefined &&
        requiredActions(access).every((action) => readActions.has(action)),
    )
    assert.deepEqual(idsOf(readable), [...forEveryReader].sort())
  })

  it('asks for an action wherever a path names a repository', () => {
    const bound = operations.filter(({ path }) => path.startsWith('/api/v1/repositories/{repository}'))
    for (const { id, access } of bound)
      assert.ok(access.kind === 'repository' || (access.kind === 'administrator' && forAdministrators.has(id)), id)
  })
})
