import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { generate } from 'openapi-typescript-codegen'
import { ask, closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, root, runProgram } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

/** What somebody writes who has the generated client and nothing else. */
const mainFlow = `
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { AdministrationService, ApiError, CatalogService, IdentityService, OpenAPI, TransfersService } from './client/index.js'

const [, , address = '', recoveryKey = ''] = process.argv
const repository = 'releases'
const password = 'one of the long ones'

const flow = async (): Promise<void> => {
  OpenAPI.BASE = address
  OpenAPI.TOKEN = recoveryKey
  const owner = await AdministrationService.createUser({ requestBody: { name: 'owner', password } })
  assert.equal(owner.administrator, true)

  OpenAPI.TOKEN = undefined
  const session = await IdentityService.login({ requestBody: { name: 'owner', password } })
  OpenAPI.TOKEN = session.token
  assert.equal((await IdentityService.getMe()).id, session.account.id)

  const bytes = 'sent by a generated client'
  await TransfersService.putRaw({ repository, assetPath: 'by/a client.txt', requestBody: new Blob([bytes]) })
  assert.equal(await TransfersService.getRaw({ repository, assetPath: 'by/a client.txt' }), bytes)
  const page = await CatalogService.listAssetPage({ repository, limit: 10 })
  assert.deepEqual(page.items.map(({ path }) => path), ['by/a client.txt'])

  const upload = await TransfersService.createUpload({
    repository,
    idempotencyKey: 'first',
    requestBody: {
      name: 'build.txt',
      size: String(bytes.length),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      labels: ['nightly'],
    },
  })
  const stored = await TransfersService.putUploadContent({ repository, id: upload.id, requestBody: new Blob([bytes]) })
  assert.equal(stored.status, 'available')
  const found = await CatalogService.searchArtifacts({ repository, q: 'build' })
  assert.deepEqual(found.items.map(({ id }) => id), [upload.id])

  // Files are deleted by service keys.
  OpenAPI.TOKEN = recoveryKey
  const bindings = [
    { resource: { kind: 'repository' as const, id: repository }, actions: ['artifact.delete' as const] },
  ]
  const account = await AdministrationService.createServiceAccount({ requestBody: { name: 'keeper', bindings } })
  const key = await AdministrationService.issueServiceKey({
    id: account.id,
    idempotencyKey: 'first',
    requestBody: { name: 'keeper', bindings },
  })
  // Only the first answer has it.
  if (!('secret' in key) || typeof key.secret !== 'string') throw new Error('no secret')
  OpenAPI.TOKEN = key.secret
  await IdentityService.activateServiceKey()
  const requestBody = { expectedAnnotationRevision: 0 }
  await CatalogService.deleteArtifact({ repository, id: upload.id, requestBody })

  OpenAPI.TOKEN = session.token
  await assert.rejects(
    CatalogService.getArtifact({ repository, id: upload.id }),
    (error) => error instanceof ApiError && error.status === 404,
  )
  console.log('all of it works')
}
void flow()
`

const strictly = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: false,
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    outDir: 'made',
  },
  include: ['main.ts', 'client'],
}

describe('openapi.json', { timeout: 120_000 }, () => {
  let service: LoneService
  let document: string
  before(async () => {
    service = await startLoneService('openapi')
    const told = await ask(service.address, { path: '/api/v1/openapi.json', credential: service.credential() })
    assert.equal(told.status, 200, told.text)
    document = told.text
  })
  after(() => service[Symbol.asyncDispose]())

  test('passes a strict linter without one word', async () => {
    const rules = { 'operation-tag-defined': 'error' } as const
    const config = await createConfig({ extends: ['recommended-strict'], rules })
    const lint = async (source: string): Promise<string[]> =>
      (await lintFromString({ source, config, absoluteRef: 'openapi.json' })).map(
        ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`,
      )
    assert.deepEqual(await lint(document), [])
    const broken = document.replace('"summary":', '"sumary":')
    assert.notDeepEqual(await lint(broken), [], 'the linter takes anything')
  })

  test('makes a client that compiles strictly, and that signs in, uploads, downloads, lists and deletes', async () => {
    const { address, folder } = service
    const input: unknown = JSON.parse(document)
    assert.ok(typeof input === 'object' && input !== null)
    await generate({ input, output: join(folder, 'client'), httpClient: 'fetch', useOptions: true })
    await writeFile(join(folder, 'package.json'), '{}')
    await writeFile(join(folder, 'main.ts'), mainFlow)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(strictly))
    const compiled = await runProgram(join(root, 'node_modules/.bin/tsc'), ['-p', folder])
    assert.equal(compiled.code, 0, compiled.stdout + compiled.stderr)
    const ran = await runProgram(process.execPath, [join(folder, 'made/main.js'), address, service.credential()])
    assert.equal(ran.code, 0, ran.stdout + ran.stderr)
    assert.equal(ran.stdout, 'all of it works\n')
  })
})
