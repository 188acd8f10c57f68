import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from './people.ts'
import { inDatabase } from './rows.ts'
import { type ServiceOptions, startService, type TestService } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'

export const lfsType = 'application/vnd.git-lfs+json'

/** What the protocol knows of a file. */
export interface LfsObject {
  readonly oid: string
  readonly size: number
}

export const described = (bytes: string | Uint8Array): LfsObject => ({
  oid: hash('sha256', bytes),
  size: Buffer.byteLength(bytes),
})

/** Bytes that nobody has, with what they are called. */
export const newObject = (length = 300): LfsObject & { readonly bytes: Buffer } => {
  const bytes = randomBytes(length)
  return { ...described(bytes), bytes }
}

export interface Action {
  readonly href: string
  readonly header: Readonly<Record<string, string>>
  readonly expires_in: number
}

/** A service with a repository `releases` that its owner may write to and a reader read, and one more of the owner. */
export const lfsSite = (engine: TestEngine, options: ServiceOptions = {}) => {
  let service: TestService
  let owner: Person
  let other: Person
  let reader: Person
  let key: string
  let session: string
  /** The same person with a personal token, which lasts longer than a session. */
  const lasting = async (person: Person): Promise<Person> => {
    const asked = { path: '/api/v1/auth/tokens', credential: person.token, json: { name: 'git' } }
    const told = await service.ask(asked)
    assert.equal(told.status, 201, told.text)
    return { ...person, token: told.json.token }
  }
  before(async () => {
    service = await startService(engine, options)
    const signedIn = await createOwner(service)
    session = signedIn.token
    owner = await lasting(signedIn)
    await createRepository(service, 'second')
    await grant(service, owner, 'second', 'write')
    other = await lasting(await createPerson(service, 'other'))
    await grant(service, other, 'releases', 'write')
    reader = await lasting(await createPerson(service, 'reader'))
    await grant(service, reader, 'releases', 'read')
    const deletes = binding('releases', 'artifact.list', 'artifact.delete')
    const robot = await createServiceAccount(service, [deletes])
    key = (await activeKey(service, robot.id, { bindings: [deletes] })).secret
  })
  after(() => service.stop())

  const ask = (given: Ask): Promise<Told> => service.ask({ credential: owner.token, ...given })
  const expect = async (given: Ask, status: number): Promise<Told> => {
    const told = await ask(given)
    assert.equal(told.status, status, `${given.method ?? ''} ${given.path}: ${told.status} ${told.text.slice(0, 500)}`)
    return told
  }
  /** As a client asks, of the repository or of an address behind it. */
  const say = (path: string, body: unknown, more: Partial<Ask> = {}): Ask => ({
    method: 'POST',
    path,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...more,
    headers: { accept: lfsType, 'content-type': `${lfsType}; charset=utf-8`, ...more.headers },
  })
  const batch = (operation: 'upload' | 'download', objects: readonly LfsObject[], more: object = {}, given = {}) =>
    ask(
      say(
        '/lfs/releases/objects/batch',
        { operation, objects: objects.map(({ oid, size }) => ({ oid, size })), ...more },
        given,
      ),
    )
  /** What the batch says is to be done with one object. */
  const action = async (
    operation: 'upload' | 'download',
    object: LfsObject,
    { name = operation, credential = owner.token }: { readonly name?: string; readonly credential?: string } = {},
  ): Promise<Action> => {
    const told = await batch(operation, [object], {}, { credential })
    assert.equal(told.status, 200, told.text)
    const found = told.json.objects[0].actions?.[name]
    assert.ok(found, told.text)
    return found
  }
  /** Follows an address as a client does, which knows nothing but what stands with it. */
  const follow = ({ href, header }: Action, given: Partial<Ask> = {}): Promise<Told> => {
    assert.ok(href.startsWith(service.url), href)
    const headers = { ...header, ...given.headers }
    return service.ask({ ...given, path: href.slice(service.url.length), credential: null, headers })
  }
  const push = async (bytes: Uint8Array, as: { readonly credential?: string } = {}): Promise<LfsObject> => {
    const object = described(bytes)
    const told = await follow(await action('upload', object, as), { method: 'PUT', body: bytes })
    assert.equal(told.status, 200, told.text)
    return object
  }
  /** All bytes, as somebody gets them who asks for them from the beginning. */
  const pull = async (object: LfsObject): Promise<Buffer> => {
    const told = await follow(await action('download', object))
    assert.equal(told.status, 200, told.text)
    return told.bytes
  }
  /** Asserts that nobody gets it here. */
  const isMissing = async ({ oid, size }: LfsObject, repository = 'releases'): Promise<void> => {
    const object = { oid, size }
    const told = await expect(
      say(`/lfs/${repository}/objects/batch`, { operation: 'download', objects: [object] }),
      200,
    )
    assert.equal(told.json.objects[0].error.code, 404)
    await expect({ path: `/lfs/${repository}/objects/${object.oid}/content` }, 404)
  }

  return {
    get service() {
      return service
    },
    get owner() {
      return owner
    },
    /** A session of the owner's. */
    get session() {
      return session
    },
    /** May write as well. */
    get other() {
      return other
    },
    get reader() {
      return reader
    },
    /** May delete in `releases`. */
    get key() {
      return key
    },
    ask,
    expect,
    say,
    batch,
    action,
    follow,
    push,
    pull,
    isMissing,
  }
}

/** A service's own words for what is wrong with a request. */
export const isRefused = (told: Told, status: number, message: RegExp): void => {
  assert.equal(told.status, status, told.text)
  assert.equal(told.headers['content-type'], lfsType)
  assert.match(told.json.message, message)
  assert.match(told.json.request_id, /./)
}

export const setQuota = (service: TestService, repository: string, bytes: number | null): Promise<unknown> =>
  inDatabase(service, (q) =>
    q.updateTable('repositories').set({ quota_bytes: bytes }).where('id', '=', repository).execute(),
  )

/** What the journal of a repository tells, the oldest line first. */
export const linesOf = (service: Parameters<typeof inDatabase>[0], repository: string) =>
  inDatabase(service, (q) =>
    q
      .selectFrom('journal')
      .select(['action', 'detail'])
      .where('repository', '=', repository)
      .orderBy('sequence')
      .execute(),
  )
