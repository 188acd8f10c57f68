import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Operation, requiredActions } from '../../src/contract/operation.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import type { Tables } from '../../src/database/tables/index.ts'
import { compileOperation } from '../../src/http/pipeline/pipeline.ts'
import { actionsOf, administrationActions, repositoryActions } from '../../src/kernel/actions.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { closeConnections } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer, reasonOf } from '../harness/expect.ts'
import { digestOf } from '../harness/inspection.ts'
import { createPerson, createRepository, type Person, signIn } from '../harness/people.ts'
import { newFile, openUpload, publish } from '../harness/publishing.ts'
import { sampleOf } from '../harness/samples.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, freshName, revocation } from '../harness/service-keys.ts'

after(closeConnections)

const withBody = catalogue().filter(({ body, access }) => body.kind !== 'none' && access.kind !== 'anyone')

/** Whoever may call these alone has a key of the keys file, which holds until the service is started again. */
const forKeysOfTheFile = ['createServiceAccount', 'putDelegation']

const everyLoss = process.env['SVC_TEST_EVERY_LOSS'] === '1'
const lossesOfEach = 3

/**
 * What must be as it was: everything but what a transfer reserves and gives back, and what is made new by the fresh
 * request.
 */
const watched = [
  'access_groups',
  'accounts',
  'artifact_references',
  'artifact_stages',
  'annotations',
  'annotation_revisions',
  'artifacts',
  'assembly_parts',
  'asset_revisions',
  'attachment_revisions',
  'deleted_artifacts',
  'delegations',
  'group_grants',
  'group_members',
  'journal',
  'lfs_locks',
  'lfs_objects',
  'lfs_settings',
  'link_keys',
  'oci_blobs',
  'oci_manifests',
  'oci_tags',
  'packages',
  'personal_tokens',
  'security_audit',
  'service_accounts',
  'service_keys',
  'sessions',
  'storage_policies',
] as const satisfies (keyof Tables)[]

/** Somebody who may call an operation, and how that is taken away. */
interface Holder {
  readonly credential: string
  takeAway(): Promise<void>
}
type MakeHolder = () => Promise<Holder>

forEachEngine((engine) => {
  describe('a body that is held back', () => {
    let service: TestService
    let database: Database
    let person: Person
    let credential = ''
    let administrator: Person
    let group = ''
    let repository = ''
    let target = { id: '', keyId: '' }

    const asRecovery = async (method: string, path: string, status: number, json?: unknown) => {
      const request = { method, path, credential: service.recoveryKey, ...(json === undefined ? {} : { json }) }
      return expectAnswer(service, request, status)
    }

    before(async () => {
      service = await startService(engine, { roles: { gateway: 'api', worker: false } })
      database = await openDatabase({ url: service.databaseUrl, report: () => {} })
      administrator = await createPerson(service, 'administrator', true)
      person = await createPerson(service, 'person')
      const made = { path: '/api/v1/auth/tokens', credential: person.token, json: { name: 'held' } }
      credential = (await expectAnswer(service, made, 201)).json.token
      const all = binding('releases', ...repositoryActions)
      const account = await createServiceAccount(service, [all])
      target = { id: account.id, keyId: (await activeKey(service, account.id, { bindings: [all] })).id }
    })
    after(async () => {
      await database[Symbol.asyncDispose]()
      await service.stop()
    })

    /** The person may write to a repository of its own, through a group of its own. */
    const freshAccess = async (): Promise<void> => {
      repository = freshName('held')
      await createRepository(service, repository)
      group = (await asRecovery('POST', '/api/v1/access-groups', 201, { name: repository })).json.id
      await asRecovery('PUT', `/api/v1/access-groups/${group}/members/${person.id}`, 204)
      await asRecovery('PUT', `/api/v1/access-groups/${group}/grants/${repository}`, 204, { access: 'write' })
    }
    const ofPerson =
      (takeAway: () => Promise<unknown>): MakeHolder =>
      async () => {
        await asRecovery('PATCH', `/api/v1/users/${person.id}`, 200, { enabled: true })
        await freshAccess()
        return { credential, takeAway: async () => void (await takeAway()) }
      }
    const inGroup = (): string => `/api/v1/access-groups/${group}`
    const disabled = ofPerson(() => asRecovery('PATCH', `/api/v1/users/${person.id}`, 200, { enabled: false }))
    const removed = ofPerson(() => asRecovery('DELETE', `${inGroup()}/members/${person.id}`, 204))
    const narrowed = ofPerson(() => asRecovery('PUT', `${inGroup()}/grants/${repository}`, 204, { access: 'read' }))
    const groupGone = ofPerson(() => asRecovery('DELETE', inGroup(), 204))
    const madeAgain = ofPerson(async () => {
      await asRecovery('DELETE', `/api/v1/repositories/${repository}`, 204)
      await createRepository(service, repository)
    })

    const ofKey =
      (takeAway: (key: { id: string; accountId: string }) => Promise<unknown>): MakeHolder =>
      async () => {
        await freshAccess()
        const bindings = [binding(repository, ...repositoryActions)]
        const account = await createServiceAccount(service, bindings)
        const key = await activeKey(service, account.id, { bindings })
        for (const to of target.id === '' ? [] : [target.id])
          await asRecovery('PUT', `/api/v1/api-keys/${key.id}/delegations/${to}`, 200, {
            actions: administrationActions,
            ceiling: [binding('releases', ...repositoryActions)],
          })
        return { credential: key.secret, takeAway: async () => void (await takeAway(key)) }
      }
    const revoked = ofKey(({ id }) => expectAnswer(service, revocation(id, service.recoveryKey), 200))
    const accountDisabled = ofKey(({ accountId }) =>
      asRecovery('PATCH', `/api/v1/service-accounts/${accountId}`, 200, { expectedRevision: 1, enabled: false }),
    )
    const policyNarrowed = ofKey(({ accountId }) =>
      asRecovery('PUT', `/api/v1/service-accounts/${accountId}/policy`, 200, {
        expectedRevision: 1,
        bindings: [binding(repository, 'diagnostics.read')],
      }),
    )
    const delegationEnded = ofKey(({ id }) =>
      asRecovery('DELETE', `/api/v1/api-keys/${id}/delegations/${target.id}`, 204),
    )

    const ofAdministrator =
      (change: object | null): MakeHolder =>
      async () => {
        await asRecovery('PATCH', `/api/v1/users/${administrator.id}`, 200, { enabled: true })
        const token = await signIn(service, administrator.name)
        const logout = { method: 'POST', path: '/api/v1/auth/logout', credential: token }
        const takeAway = async (): Promise<void> => {
          if (change === null) await expectAnswer(service, logout, 204)
          else await asRecovery('PATCH', `/api/v1/users/${administrator.id}`, 200, change)
        }
        return { credential: token, takeAway }
      }
    const administratorDisabled = ofAdministrator({ enabled: false })
    const signedOut = ofAdministrator(null)

    const writes = actionsOf('write')
    /** How those who may call an operation lose that. */
    const losses = ({ access, body }: Operation): Record<string, MakeHolder> => {
      if (access.kind === 'administration') return { revoked, accountDisabled, delegationEnded }
      if (access.kind !== 'repository') return { administratorDisabled, signedOut }
      const forPeople = access.actions.every((action) => writes.has(action))
      const forReaders = access.actions.every((action) => actionsOf('read').has(action))
      return {
        revoked,
        policyNarrowed,
        ...(forPeople ? { disabled, removed, groupGone } : {}),
        ...(forPeople && !forReaders ? { narrowed } : {}),
        // What is on its way keeps its repository from being deleted.
        ...(forPeople && body.kind === 'json' ? { madeAgain } : {}),
      }
    }

    const content = Buffer.from('held back')
    /** That of what is sent for an image: the bytes of a blob, whose digest is said where it may be. */
    const pathOfImage = async ({ id, path }: Operation, { credential }: Holder): Promise<string> => {
      const begin = { method: 'POST', path: `/v2/${repository}/held/blobs/uploads/`, credential }
      const upload = path.includes('{id}')
        ? (await expectAnswer(service, begin, 202)).headers['docker-upload-uuid']
        : ''
      const named: Record<string, string> = { repository, name: 'held', id: String(upload), reference: 'latest' }
      const there = path.replaceAll(/\{([a-zA-Z]+)\+?\}/g, (_, name: string) => named[name] ?? '')
      return ['beginBlob', 'completeBlob'].includes(id) ? `${there}?digest=sha256:${digestOf(content)}` : there
    }
    /**
     * The path of an operation, to something that is there wherever a file or a session of the caller's is not needed.
     */
    const pathOf = async (operation: Operation, holder: Holder): Promise<string> => {
      const { access, path } = operation
      const named: Record<string, string> = {
        repository,
        stage: 'tested',
        index: '0',
        assetPath: 'a/b',
        oid: digestOf(content),
      }
      if (path.startsWith('/v2')) return pathOfImage(operation, holder)
      if (access.kind === 'administration') named['id'] = access.of === 'service-key' ? target.keyId : target.id
      else if (operation.body.kind === 'stream' && path.includes('{id}')) {
        const opened = await openUpload(service, holder.credential, repository, newFile('held', content).descriptor)
        named['id'] = opened.json.id
      } else if (path.startsWith('/api/v1/users/')) named['id'] = person.id
      else if (path.startsWith('/api/v1/access-groups/')) named['id'] = group
      const there = path.replaceAll(/\{([a-zA-Z]+)[*+]?\}/g, (_, name: string) => named[name] ?? target.keyId)
      // The size of what is sent, where the address says it.
      const says = operation.body.kind === 'stream' && 'size' in operation.query.properties
      return says ? `${there}?size=${content.byteLength}` : there
    }
    const bodyOf = (operation: Operation): Buffer => {
      if (operation.body.kind !== 'json') return content
      const sample = sampleOf(operation.body.schema)
      compileOperation(operation).body?.(sample)
      return Buffer.from(JSON.stringify(sample))
    }

    const rows = async (): Promise<Record<string, string[]>> => {
      const found: Record<string, string[]> = {}
      for (const table of watched)
        found[table] = (await database.reader.selectFrom(table).selectAll().execute())
          .map((row) => JSON.stringify({ ...row, last_used_at: null }))
          .sort()
      return found
    }

    const headersOf = (operation: Operation, holder: Holder, body: Buffer): Record<string, string> => ({
      authorization: `Bearer ${holder.credential}`,
      'content-type': operation.body.kind === 'json' ? 'application/json' : 'application/octet-stream',
      'content-length': String(body.byteLength),
      ...('idempotency-key' in operation.headers.properties ? { 'idempotency-key': freshName('request') } : {}),
      ...('upload-offset' in operation.headers.properties ? { 'upload-offset': '0' } : {}),
      ...('x-content-sha256' in operation.headers.properties ? { 'x-content-sha256': digestOf(body) } : {}),
    })

    /** Sends the head and, once it was let in, takes the right away; then the body. Answers status and code. */
    const held = async (operation: Operation, holder: Holder, path: string, body: Buffer) => {
      const connection = await openConnection(service.url)
      const headers = Object.entries({
        ...headersOf(operation, holder, body),
        expect: '100-continue',
        connection: 'close',
      })
      const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      connection.send(`${operation.method} ${path} HTTP/1.1\r\nhost: ${new URL(service.url).host}\r\n${head}\r\n`)
      await connection.until(/^HTTP\/1\.1 100 /)
      await holder.takeAway()
      const before = await rows()
      connection.send(body)
      const told = await connection.ended()
      return {
        before,
        status: Number(/HTTP\/1\.1 ([2-5]\d\d)/.exec(told)?.[1]),
        code: (/"reason":"(\w+)"/.exec(told) ?? /"code":"(\w+)"/.exec(told))?.[1],
      }
    }

    for (const [at, operation] of withBody.filter(({ id }) => !forKeysOfTheFile.includes(id)).entries())
      it(`does nothing for whom ${operation.id} would be refused by now`, async () => {
        const all = Object.entries(losses(operation))
        // Each way to lose a right is met by every third operation; the environment asks for all of them at each.
        const some = all.filter(
          (_, which) => everyLoss || which % lossesOfEach === at % Math.min(lossesOfEach, all.length),
        )
        for (const [loss, hold] of some) {
          const holder = await hold()
          const path = await pathOf(operation, holder)
          const body = bodyOf(operation)
          const { before, status, code } = await held(operation, holder, path, body)
          assert.deepEqual(await rows(), before, loss)
          const { authorization: _, ...headers } = headersOf(operation, holder, body)
          const fresh = await service.ask({
            method: operation.method,
            path,
            credential: holder.credential,
            headers,
            body,
          })
          assert.deepEqual({ loss, status, code }, { loss, status: fresh.status, code: reasonOf(fresh) })
          assert.ok([401, 403, 404].includes(status), `${loss}: ${status}`)
        }
      })

    it('counts for whoever still may', async () => {
      const holder = await removed()
      const id = await publish(service, holder.credential, repository, newFile('kept', 'kept'))
      const path = `/api/v1/repositories/${repository}/raw/a/b`
      const operation = withBody.find((each) => each.id === 'putRaw')
      assert.ok(operation !== undefined && requiredActions(operation.access).length > 0)
      const told = await held(operation, { ...holder, takeAway: async () => {} }, path, content)
      assert.equal(told.status, 201)
      assert.notEqual(id, '')
    })
  })
})
