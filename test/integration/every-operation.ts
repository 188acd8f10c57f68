import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before } from 'node:test'
import type { Operation } from '../../src/contract/operation.ts'
import { actionsOf } from '../../src/kernel/actions.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { freshVault, removeVault, takePoint } from '../harness/backups.ts'
import type { Ask, Told } from '../harness/client.ts'
import type { TestEngine } from '../harness/engines.ts'
import { reasonOf } from '../harness/expect.ts'
import { digestOf } from '../harness/inspection.ts'
import { npmPublisher, publishAttested } from '../harness/npm-packages.ts'
import { beginSignIn } from '../harness/npm-sign-ins.ts'
import { lookThrough } from '../harness/npm-upstreams.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { cacheRichNpmPackages } from '../harness/rich-npm-upstream.ts'
import { startService, type TestService } from '../harness/service.ts'
import { upack } from '../harness/zip.ts'

/** Anyone may call these. May only shrink, or grow with a reason in the declaration that a reader accepts. */
export const open = [
  'getLiveness',
  'getHealthStatus',
  'login',
  'register',
  'getAuthOptions',
  'getFrontPage',
  'getIcon',
  'getConsole',
  'findConsole',
  'pingNpmRegistry',
  'putNpmUser',
  'beginNpmSignIn',
  'getNpmSignInPage',
  'confirmNpmSignIn',
  'collectNpmSignIn',
]

/** Any valid credential may call these, so that none gets 403. */
export const forAnyCredential = [
  'getReadiness',
  'getMetrics',
  'getCapabilities',
  'getOpenApi',
  'listOperations',
  'logout',
  'getMe',
  'listRepositories',
  'getPermissions',
  'listServiceAccounts',
  'searchEverywhere',
  'listOwnUploads',
  'listOwnJobs',
  'getAttention',
  'getRegistryVersion',
  'getRegistryToken',
  'listImages',
  'getNpmWhoami',
  'endNpmToken',
  'getNpmProfile',
  'listNpmTokens',
  'createNpmToken',
  'revokeNpmToken',
]

/** Whoever is signed in may call these for themselves; keys get 403. */
export const forEverySession = [
  'changePassword',
  'endSession',
  'listSessions',
  'listTokens',
  'createToken',
  'revokeToken',
]

/**
 * Whoever sees a repository may call these: a grant of read carries every action that they need, so 403 cannot happen.
 */
export const forEveryReader = [
  'getRepository',
  'listArtifacts',
  'searchArtifacts',
  'getArtifact',
  'getArtifactContent',
  'getAnnotations',
  'listAnnotationHistory',
  'listReferences',
  'createLink',
  'listAssets',
  'listAssetPage',
  'listRemovedPaths',
  'listArtifactPaths',
  'getAsset',
  'listAssetHistory',
  'getAssetRevision',
  'getAssetContent',
  'getRaw',
  'getAttachments',
  'listAttachmentHistory',
  'listArtifactStages',
  'listStages',
  'listArtifactPromotions',
  'listPromotions',
  'promoteArtifact',
  'listPackages',
  'resolvePackage',
  'getPackageContent',
  'listAudit',
  'listCatalogChanges',
  'explainArtifact',
  'getBlob',
  'getManifest',
  'listTags',
  'listReferrers',
  'listImageStages',
  'getImmutableTags',
  'promoteImage',
  'listImagePromotions',
  'explainImage',
  'listRepositoryImages',
  'listImageTags',
  'listRemovedTags',
  'listTagMoves',
  'getImageManifest',
  'listImageReferrers',
  'getNpmUser',
  'listNpmAdvisories',
  'getNpmVisibility',
  'listNpmCollaborators',
  'getNpmRegistry',
  'getLfsObject',
  'listLfsObjects',
  'listLfsLocks',
  'getLfsSettings',
  'getPackument',
  'getNpmManifest',
  'getNpmTarball',
  'listDistTags',
  'searchNpmPackages',
  'getAttestations',
  'listNpmPackages',
  'listNpmVersions',
  'listNpmStages',
  'promoteNpmVersion',
  'listNpmPromotions',
  'listDeletedNpmVersions',
  'getNpmVersion',
  'explainNpmVersion',
  'listCachedNpmPackages',
  'listCachedNpmVersions',
]

export const operations = catalogue()
export const jsonOperations = operations.filter((operation) => operation.body.kind === 'json')
export const readActions: ReadonlySet<string> = actionsOf('read')
export const idsOf = (found: readonly Operation[]): string[] => found.map(({ id }) => id).sort()

export const samples: Readonly<Record<string, string>> = {
  assetPath: 'folder/file.bin',
  stage: 'tested',
  index: '0',
  name: 'some/image',
  digest: `sha256:${digestOf('layer')}`,
  reference: 'latest',
  user: 'org.couchdb.user:reader',
  subPath: 'team/app',
  oid: digestOf('object'),
  package: 'some-package',
  version: '1.0.0',
  file: 'some-package-1.0.0.tgz',
  tag: 'beta',
  revision: '1-0',
}

/** Ids of things that are there, by operation and name of the path parameter. */
export const present: Record<string, Record<string, string>> = {}

/** What is asked of them besides, by operation. */
export const presentQueries: Record<string, string> = {}

export const pathOf = (
  operation: Operation,
  repository = 'releases',
  others: Readonly<Record<string, string>> = present[operation.id] ?? {},
): string =>
  operation.path.replaceAll(/\{([a-zA-Z]+)[*+]?\}/g, (_, name: string) =>
    name === 'repository' ? repository : (others[name] ?? samples[name] ?? randomUUID()),
  )

/** A request that reaches the checks of who may: whatever else is wrong with it comes after them. */
export const bare = (operation: Operation, credential: string | null, repository?: string): Ask => ({
  method: operation.method,
  path: pathOf(operation, repository),
  credential,
})

/** What no grant carries, for a key, and the writing of paths that goes with forgetting their revisions. */
export const forKeysAlone = [
  {
    resource: { kind: 'repository', id: 'releases' },
    actions: ['asset.write', 'artifact.delete', 'storage.read', 'storage.manage', 'diagnostics.read'],
  },
]

/** What is looked for before anything else is: a service account, or a job. */
export const hiddenByIt = ({ access }: Operation): boolean =>
  access.kind === 'administration' || access.kind === 'own-job'

/** All of an answer that does not change from one request to the next: request ids do, and now and then get longer. */
export const essence = ({ status, headers, text }: Told): unknown => {
  const { date: _, 'x-request-id': id, 'content-length': bytes, ...kept } = headers
  // Request ids are counted, and grow by a character now and then.
  const withoutId = Number(bytes) - (text === '' ? 0 : String(id).length)
  return { status, headers: { ...kept, withoutId }, text: text.replace(String(id), '<request id>') }
}

export const pointersOf = (told: Told): string[] =>
  (told.json.details ?? []).map(({ pointer }: { pointer: string }) => pointer)

/** A service in which every operation has something to be about, and callers of every kind. */
export const everyOperation = (engine: TestEngine) => {
  let service: TestService
  let vault: string
  let owner: Person
  let reader: Person
  let stranger: Person
  /** Secret of an active key of a service account. */
  let serviceKey: string
  before(async () => {
    vault = await freshVault(engine)
    const roles = { gateway: 'api', worker: true } as const
    service = await startService(engine, { settings: { SVC_BACKUP_VAULT: vault }, roles })
    owner = await createOwner(service)
    reader = await createPerson(service, 'reader')
    stranger = await createPerson(service, 'stranger')
    const groupId = await grant(service, reader, 'releases', 'read')
    await createRepository(service, 'hidden')
    const credential = owner.token
    const path = '/api/v1/repositories/releases/raw/folder/file.bin'
    const put = await service.ask({ method: 'PUT', path, credential, body: 'some bytes' })
    assert.equal(put.status, 201, put.text)
    const upload = await service.ask({
      path: '/api/v1/repositories/releases/uploads',
      credential,
      headers: { 'idempotency-key': 'one' },
      json: { name: 'file.bin', size: '3', sha256: '0'.repeat(64) },
    })
    assert.equal(upload.status, 201, upload.text)
    const empty = await service.ask({
      path: '/api/v1/repositories/releases/uploads',
      credential,
      headers: { 'idempotency-key': 'empty' },
      json: { name: 'empty.bin', size: '0', sha256: digestOf('') },
    })
    const job = await service.ask({
      method: 'POST',
      path: `${empty.headers.location}/complete-async`,
      credential,
    })
    assert.equal(job.status, 202, job.text)
    const thing = await publish(
      service,
      credential,
      'releases',
      newFile('thing.upack', upack({ name: 'thing', version: '1.0.0' })),
    )
    const registration = `/api/v1/repositories/releases/artifacts/${thing}/package`
    const registered = await service.ask({ method: 'POST', path: registration, credential })
    assert.equal(registered.status, 200, registered.text)
    const recovery = { credential: service.recoveryKey, headers: { 'idempotency-key': 'one' } }
    const account = await service.ask({
      ...recovery,
      path: '/api/v1/service-accounts',
      json: { name: 'robot', bindings: forKeysAlone },
    })
    assert.equal(account.status, 201, account.text)
    const key = await service.ask({
      ...recovery,
      path: `/api/v1/service-accounts/${account.json.id}/keys`,
      json: { name: 'robot-key', bindings: forKeysAlone },
    })
    assert.equal(key.status, 201, key.text)
    serviceKey = key.json.secret
    const activated = await service.ask({ method: 'POST', path: '/api/v1/auth/activate-key', credential: serviceKey })
    assert.equal(activated.status, 204, activated.text)
    const image = '/v2/releases/some/image'
    const begun = await service.ask({ method: 'POST', path: `${image}/blobs/uploads/`, credential })
    assert.equal(begun.status, 202, begun.text)
    for (const request of [
      { method: 'POST', path: `${image}/blobs/uploads/?digest=${samples['digest']}`, body: 'layer' },
      {
        method: 'PUT',
        path: `${image}/manifests/${samples['reference']}`,
        headers: { 'content-type': 'application/vnd.oci.image.index.v1+json' },
        body: '{"schemaVersion":2,"manifests":[]}',
      },
    ]) {
      const told = await service.ask({ ...request, credential })
      assert.equal(told.status, 201, told.text)
    }
    const object = {
      method: 'PUT',
      path: `/lfs/releases/objects/${samples['oid']}/content`,
      body: 'object',
      credential,
    }
    assert.equal((await service.ask(object)).status, 200)
    const npm = npmPublisher(service, credential)
    await publishAttested(npm, { name: 'some-package', version: '1.0.0' }, 'stable')
    await cacheRichNpmPackages({ service, writer: owner, repository: 'releases' })
    await lookThrough(service, 'releases', { url: 'https://registry.example.org', reserved: ['*'] })
    for (const { id, path } of operations) {
      const kinds: [RegExp, string][] = [
        [/^.api.v1.service-accounts/, account.json.id],
        [/^.api.v1.api-keys/, key.json.id],
        [/^.api.v1.users/, reader.id],
        [/^.api.v1.access-groups/, groupId],
        [/^.v2/, String(begun.headers['docker-upload-uuid'])],
        [/uploads/, upload.json.id],
        [/^.api.v1.jobs/, job.json.id],
      ]
      const one = kinds.find(([kind]) => kind.test(path))?.[1] ?? put.json.artifact.id
      const attested: Record<string, string> = id === 'getAttestations' ? { version: 'some-package@1.0.0' } : {}
      present[id] = { id: one, userId: reader.id, accountId: account.json.id, ...attested }
    }
    const { point_id } = await takePoint(service, vault)
    for (const id of ['getBackupPoint', 'listBackupPointContents']) present[id] = { id: String(point_id) }
    const { page, done } = await beginSignIn(service)
    for (const [id, path] of Object.entries({ getNpmSignInPage: page, collectNpmSignIn: done })) {
      const { pathname, searchParams } = new URL(path, service.url)
      present[id] = { ticket: /login\/([^/]+)/.exec(pathname)?.[1] ?? '' }
      presentQueries[id] = searchParams.toString()
    }
  })
  after(async () => {
    await service.stop()
    await removeVault(vault)
  })

  /** The same with the headers that the operation cannot do without. */
  const withHeaders = (operation: Operation): Ask => ({
    ...bare(operation, allowed(operation)),
    headers: operation.headers.properties['idempotency-key'] === undefined ? {} : { 'idempotency-key': 'any' },
  })

  /** A credential that is allowed to call the operation, on `releases` where it names a repository. */
  const allowed = (operation: Operation): string | null => {
    const { kind } = operation.access
    if (kind === 'anyone') return null
    if (kind === 'own-key') return serviceKey
    if (kind === 'service-administrator' || kind === 'administration') return service.recoveryKey
    const { access } = operation
    const carried: ReadonlySet<string> = actionsOf('write')
    const beyond = access.kind === 'repository' && access.actions.some((action) => !carried.has(action))
    return beyond ? serviceKey : owner.token
  }

  const refused = (told: Told, status: number, code: string, what: string): void => {
    assert.equal(told.status, status, `${what}: ${told.text}`)
    assert.equal(reasonOf(told), code, `${what}: ${told.text}`)
  }
  return {
    get service() {
      return service
    },
    get owner() {
      return owner
    },
    get reader() {
      return reader
    },
    get stranger() {
      return stranger
    },
    get serviceKey() {
      return serviceKey
    },
    withHeaders,
    allowed,
    refused,
  }
}
