import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { Ajv } from 'ajv'
import {
  exampleAnswer,
  exampleId,
  exampleRepository,
  exampleRequest,
  missedObject,
  unwantedIndex,
  unwantedObject,
} from '../../scripts/reference/examples.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { repositoryActions } from '../../src/kernel/actions.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { putLfsObject } from '../../src/protocols/lfs/operations.ts'
import { putManifest } from '../../src/protocols/oci/operations.ts'
import { freshVault, removeVault, takePoint } from '../harness/backups.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { digestOf } from '../harness/inspection.ts'
import { knownPoint } from '../harness/known-points.ts'
import { npmPublisher, publishAttested } from '../harness/npm-packages.ts'
import { beginSignIn } from '../harness/npm-sign-ins.ts'
import { lookThrough } from '../harness/npm-upstreams.ts'
import { publishPackage } from '../harness/packages.ts'
import { createOwner, createPerson, createRepository, grant, type Person, signIn } from '../harness/people.ts'
import { newFile, openUpload, publish } from '../harness/publishing.ts'
import { cacheRichNpmPackages } from '../harness/rich-npm-upstream.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, freshName, issueKey } from '../harness/service-keys.ts'

after(closeConnections)

const operations = catalogue()
const ajv = new Ajv({ strict: true, validateFormats: false })

describe('the examples of the reference', () => {
  it('are what the schemas take and answer', () => {
    for (const operation of operations) {
      const { body } = exampleRequest(operation)
      if (operation.body.kind === 'json')
        assert.ok(ajv.validate(operation.body.schema, body), `${operation.id}: ${ajv.errorsText()}`)
      const answer = exampleAnswer(operation)
      const schema = operation.responses[answer.status]?.schema
      if (schema) assert.ok(ajv.validate(schema, answer.body), `${operation.id}: ${ajv.errorsText()}`)
    }
  })

  it('stand in the page, once for each operation', () => {
    const page = readFileSync('docs/reference/operations.md', 'utf8')
    assert.equal(page.match(/^```http$/gm)?.length, operations.length * 2)
    for (const operation of operations) {
      const { method, path } = exampleRequest(operation)
      assert.ok(page.includes(`\`\`\`http\n${method} ${path}\n`), operation.id)
    }
  })
})

onSqlite((engine) => {
  let service: TestService
  let vault: string
  let point: string
  let key: string
  let owner: Person
  let person: Person
  const bindings = [exampleRepository, 'builds'].map((id) => binding(id, ...repositoryActions))
  const recovery = (): { credential: string } => ({ credential: service.recoveryKey })

  before(async () => {
    vault = await freshVault(engine)
    service = await startService(engine, {
      settings: { SVC_ALLOW_REGISTRATION: 'true', SVC_BACKUP_VAULT: vault },
      roles: { gateway: 'api', worker: true },
    })
    const taken = await takePoint(service, vault)
    point = String(taken.point_id)
    owner = await createOwner(service)
    await grant(service, owner, exampleRepository, 'write')
    await createRepository(service, 'builds')
    const account = await createServiceAccount(service, bindings)
    key = (await activeKey(service, account.id, { bindings })).secret
    const put = async (name: string, body = 'hello'): Promise<void> => {
      const path = `/api/v1/repositories/${exampleRepository}/raw/app/1.0.0/${name}.tar.gz`
      assert.equal((await service.ask({ method: 'PUT', path, ...recovery(), body })).status, 201)
    }
    for (const name of ['app', 'unwanted', 'leaked', 'replaced']) await put(name)
    await put('replaced', 'hello again')
    const published = await publishPackage(service, key, exampleRepository, { name: 'hello', version: '1.0.0' })
    const register = `/api/v1/repositories/${exampleRepository}/artifacts/${published}/package`
    assert.equal((await service.ask({ method: 'POST', path: register, credential: key })).status, 200)
    await publishAttested(
      npmPublisher(service, key, exampleRepository),
      { name: 'hello', version: '1.0.0' },
      'unneeded',
    )
    for (const name of ['unwanted', 'mistaken', 'brought-back'])
      await npmPublisher(service, key, exampleRepository).publish({ name, version: '1.0.0' })
    const away = `/npm/${exampleRepository}/brought-back/-/brought-back-1.0.0.tgz/-rev/0`
    await expectAnswer(service, { method: 'DELETE', path: away, credential: key }, 200)
    for (const body of ['hello', '{}']) {
      const path = `/v2/${exampleRepository}/hello/blobs/uploads/?digest=sha256:${digestOf(body)}`
      await expectAnswer(service, { method: 'POST', path, credential: key, body }, 201)
    }
    const { path: object } = exampleRequest(putLfsObject)
    await expectAnswer(service, { method: 'PUT', path: object, credential: key, body: 'hello' }, 200)
    const push = (bytes: string): Ask => ({
      method: 'PUT',
      path: `/lfs/${exampleRepository}/objects/${digestOf(bytes)}/content`,
      credential: key,
      body: bytes,
    })
    for (const bytes of [unwantedObject, missedObject]) await expectAnswer(service, push(bytes), 200)
    const missed = `/api/v1/repositories/${exampleRepository}/lfs/objects/${digestOf(missedObject)}`
    await expectAnswer(service, { method: 'DELETE', path: missed, credential: key }, 204)
    const index = exampleRequest(putManifest)
    for (const [tag, body] of [
      ['latest', String(index.body)],
      ['unwanted', String(index.body)],
      ['unneeded', String(index.body)],
      ['nobody-wants', unwantedIndex],
    ] as const) {
      const path = `/v2/${exampleRepository}/hello/manifests/${tag}`
      await expectAnswer(service, { ...index, path, credential: key, body }, 201)
    }
  })
  after(async () => {
    await service.stop()
    await removeVault(vault)
  })

  /** A session that a file of five bytes came to, so that it can be completed. */
  const uploadWithBytes = async (withBytes: boolean): Promise<string> => {
    const { descriptor } = newFile(freshName('file'), 'hello')
    const { json, headers } = await openUpload(service, key, exampleRepository, descriptor)
    const sent = { 'content-type': 'application/octet-stream', 'x-content-sha256': descriptor.sha256 }
    const path = `${headers.location}/parts/0`
    if (withBytes)
      await expectAnswer(service, { method: 'PUT', path, credential: key, headers: sent, body: 'hello' }, 204)
    return json.id
  }

  const blobUpload = async (): Promise<string> => {
    const request = { method: 'POST', path: `/v2/${exampleRepository}/hello/blobs/uploads/`, credential: key }
    return String((await expectAnswer(service, request, 202)).headers['docker-upload-uuid'])
  }

  /** Something that is there, by the segment before its id. */
  const made: Readonly<Record<string, (operation: Operation) => Promise<string>>> = {
    artifacts: async ({ id }) =>
      id === 'registerPackage'
        ? await publishPackage(service, key, exampleRepository, { name: freshName('package'), version: '1.0.0' })
        : await publish(service, key, exampleRepository, newFile(freshName('file'), freshName('bytes'))),
    uploads: ({ id, path }) => (path.startsWith('/v2') ? blobUpload() : uploadWithBytes(id.startsWith('complete'))),
    locks: async () => {
      const path = `/lfs/${exampleRepository}/team/app/locks`
      const body = JSON.stringify({ path: freshName('file') })
      return (await expectAnswer(service, { method: 'POST', path, credential: key, body }, 201)).json.lock.id
    },
    '-rev': async ({ id }) => {
      const path = `/npm/${exampleRepository}/${id === 'deletePackage' ? 'unwanted' : 'hello'}`
      return (await expectAnswer(service, { path, credential: key }, 200)).json._rev
    },
    users: async () => (await newPerson()).id,
    members: async () => (await newPerson()).id,
    'access-groups': async () => {
      const json = { name: freshName('group') }
      return (await service.ask({ path: '/api/v1/access-groups', ...recovery(), json })).json.id
    },
    tokens: async ({ id }) => {
      const credential = id === 'revokeUserToken' ? person.token : owner.token
      return (await service.ask({ path: '/api/v1/auth/tokens', credential, json: { name: freshName('token') } })).json
        .id
    },
    sessions: async () => {
      await signIn(service, owner.name)
      const told = await service.ask({ path: '/api/v1/auth/sessions', credential: owner.token })
      return told.json.items.find(({ current }: { current: boolean }) => !current).id
    },
    token: async () =>
      (await service.ask({ path: '/api/v1/auth/tokens', credential: owner.token, json: { name: freshName('token') } }))
        .json.id,
    points: async ({ id }) => (id === 'listBackupPointContents' ? point : await knownPoint(service)),
    'service-accounts': async () => (await createServiceAccount(service, bindings)).id,
    delegations: async () => (await createServiceAccount(service, bindings)).id,
    'api-keys': async () =>
      (await activeKey(service, (await createServiceAccount(service, bindings)).id, { bindings })).id,
    jobs: async () => {
      const path = `/api/v1/repositories/${exampleRepository}/uploads/${await uploadWithBytes(true)}/complete-async`
      return (await expectAnswer(service, { method: 'POST', path, credential: key }, 202)).json.id
    },
  }
  const newPerson = async (): Promise<Person> => {
    person = await createPerson(service, freshName('person'))
    return person
  }

  /** The example's text with ids of what is there. */
  const withIds = async (operation: Operation, text: string): Promise<string> => {
    const [first = '', ...rest] = text.split(exampleId)
    let whole = first
    for (const piece of rest) {
      const [, kind = ''] = /([a-z-]+)\/$/.exec(whole) ?? []
      const make = made[kind] ?? made['artifacts']
      whole += `${await make?.(operation)}${piece}`
    }
    return whole
  }

  /** A sign-in by a browser that was begun, where an operation is about one. */
  const isOfSignIn = ({ path }: Operation): boolean => path.includes('{ticket}')
  const signInPath = async ({ path }: Operation): Promise<string> => {
    const { page, done } = await beginSignIn(service)
    return path.endsWith('/done') ? done : page
  }

  const credentialFor = async ({ access, id }: Operation): Promise<string | null> => {
    if (access.kind === 'anyone') return null
    if (access.kind === 'repository' || access.kind === 'own-job') return key
    if (id === 'changePassword') return (await newPerson()).token
    // What npm asks a person for.
    if (access.kind === 'session' || id.endsWith('NpmToken')) return owner.token
    if (access.kind !== 'own-key') return service.recoveryKey
    const account = await createServiceAccount(service, bindings)
    return (await issueKey(service, account.id, { bindings })).secret
  }

  const asked = async (operation: Operation): Promise<Ask> => {
    const { method, headers, body, ...example } = exampleRequest(operation)
    if (operation.path.endsWith('/npm-upstream'))
      await lookThrough(service, exampleRepository, { url: 'https://registry.example.org', reserved: ['*'] })
    if (operation.path.includes('/npm-upstream/'))
      await cacheRichNpmPackages({ service, writer: owner, repository: exampleRepository })
    const path = isOfSignIn(operation) ? await signInPath(operation) : example.path
    const common = { method, path: await withIds(operation, path), headers, credential: await credentialFor(operation) }
    if (body === null) return common
    return { ...common, body: typeof body === 'string' ? body : await withIds(operation, JSON.stringify(body)) }
  }

  describe('each request of the reference', () => {
    for (const operation of operations)
      it(`${operation.id} is taken as it stands`, async () => {
        const told = await service.ask(await asked(operation))
        assert.ok(told.status < 300, `${told.status} ${told.text.slice(0, 300)}`)
      })
  })
})
