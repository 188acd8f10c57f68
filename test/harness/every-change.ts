import type { Catalog } from './catalog.ts'
import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { changesOfImages } from './image-changes.ts'
import { digestOf } from './inspection.ts'
import { knownPoint, knownPointAt } from './known-points.ts'
import { changesOfLfs } from './lfs-catalog.ts'
import { changesOfNpmPackages } from './npm-changes.ts'
import { changesOfNpmSignIns } from './npm-sign-ins.ts'
import { publishPackage } from './packages.ts'
import { fileOfParts, openSession, partOf, sendParts } from './parts.ts'
import { createPerson, createRepository, grant, password, signIn } from './people.ts'
import { newFile } from './publishing.ts'
import {
  activation,
  activeKey,
  binding,
  createServiceAccount,
  issueKey,
  issueRequest,
  rotateRequest,
} from './service-keys.ts'

type Place = { readonly catalog: Catalog; readonly keeper: string; file(): Promise<string>; at(path: string): string }

/** A request for each operation that changes something, by its id: each succeeds, whatever the others did before. */
export const everyChange = async (catalog: Catalog): Promise<Readonly<Record<string, Ask>>> => {
  const { service, writer } = catalog
  await createRepository(service, 'changing')
  await createRepository(service, 'target')
  for (const repository of ['changing', 'target']) await grant(service, writer, repository, 'write')
  const bindings = [
    binding(
      'changing',
      'artifact.delete',
      'artifact.read',
      'storage.manage',
      'storage.read',
      'annotation.write',
      'asset.write',
    ),
  ]
  const account = await createServiceAccount(service, bindings)
  const { secret: keeper } = await activeKey(service, account.id, { bindings })
  const at = (path: string): string => `/api/v1/repositories/changing${path}`
  let files = 0
  const file = async (): Promise<string> => {
    const path = at(`/raw/changing/${++files}`)
    const asked = { method: 'PUT', path, credential: writer.token, body: `changing ${files}` }
    return (await expectAnswer(service, asked, 201)).json.artifact.id
  }
  const place = { catalog, keeper, file, at }
  const images = await changesOfImages({ service, credential: writer.token, repository: 'changing' })
  return {
    ...(await changesOfPeople(place)),
    ...(await changesOfKeys(place)),
    ...(await changesOfFiles(place)),
    ...images,
    ...(await changesOfBackups(place)),
    ...(await changesOfLfs({ service, credential: writer.token, keeper, repository: 'changing' })),
    ...(await changesOfNpmPackages({ service, credential: writer.token, keeper, repository: 'changing' })),
    ...Object.fromEntries(
      ['deleteBlob', 'deleteImageManifest'].map((id) => [
        id,
        { method: 'DELETE', path: String(images[id]?.path), credential: keeper },
      ]),
    ),
  }
}

const changesOfBackups = async ({ catalog: { service } }: Place): Promise<Record<string, Ask>> => {
  const point = await knownPoint(service)
  const asked = { credential: service.recoveryKey, headers: { 'idempotency-key': 'changing' } }
  const retention = { daily: 7, weekly: 4, monthly: 6 }
  const plan = { expectedRevision: 0, enabled: true, hour: 2, minute: 0, timezone: 'UTC', retention }
  const path = (of: string): string => `/api/v1/backup/${of}`
  const unwanted = await knownPoint(service)
  return {
    putBackupPlan: { ...asked, headers: {}, method: 'PUT', path: path('plan'), json: plan },
    runBackup: { ...asked, method: 'POST', path: path('runs') },
    verifyBackupPoint: { ...asked, method: 'POST', path: path(`points/${point}/verify`) },
    pinBackupPoint: { ...asked, headers: {}, method: 'PUT', path: path(`points/${point}/pin`), json: { pinned: true } },
    deleteBackupPoint: {
      ...asked,
      headers: {},
      method: 'DELETE',
      path: path(`points/${unwanted}`),
      json: { confirm: knownPointAt },
    },
  }
}

const changesOfPeople = async ({ catalog }: Place): Promise<Record<string, Ask>> => {
  const { service } = catalog
  const owner = (method: string, path: string, json?: unknown): Ask => ({
    method,
    path: `/api/v1${path}`,
    credential: service.recoveryKey,
    ...(json === undefined ? {} : { json }),
  })
  const [one, two, three] = [
    await createPerson(service, 'changing-one'),
    await createPerson(service, 'changing-two'),
    await createPerson(service, 'changing-three'),
  ]
  const group = await grant(service, one, 'releases', 'read')
  const doomed = await grant(service, two, 'releases', 'read')
  const token = async (name: string): Promise<string> =>
    (await expectAnswer(service, { path: '/api/v1/auth/tokens', credential: one.token, json: { name } }, 201)).json.id
  await createRepository(service, 'doomed')
  const logout = await signIn(service, one.name)
  const elsewhere = await signIn(service, two.name)
  const { items } = (await expectAnswer(service, { path: '/api/v1/auth/sessions', credential: elsewhere }, 200)).json
  const ended = items.find(({ current }: { current: boolean }) => !current).id
  return {
    ...(await changesOfNpmSignIns(service, one)),
    login: { path: '/api/v1/auth/login', json: { name: one.name, password } },
    register: { path: '/api/v1/auth/register', json: { name: 'registered', password } },
    logout: { method: 'POST', path: '/api/v1/auth/logout', credential: logout },
    endSession: { method: 'DELETE', path: `/api/v1/auth/sessions/${ended}`, credential: elsewhere },
    changePassword: {
      path: '/api/v1/auth/password',
      credential: three.token,
      json: { currentPassword: password, newPassword: `${password} 2` },
    },
    createUser: owner('POST', '/users', { name: 'changing-new', password }),
    updateUser: owner('PATCH', `/users/${two.id}`, { enabled: false }),
    createToken: { path: '/api/v1/auth/tokens', credential: one.token, json: { name: 'third' } },
    revokeToken: { method: 'DELETE', path: `/api/v1/auth/tokens/${await token('first')}`, credential: one.token },
    revokeUserToken: owner('DELETE', `/users/${one.id}/tokens/${await token('second')}`),
    createAccessGroup: owner('POST', '/access-groups', { name: 'changing-group' }),
    deleteAccessGroup: owner('DELETE', `/access-groups/${doomed}`),
    addAccessGroupMember: owner('PUT', `/access-groups/${group}/members/${three.id}`),
    removeAccessGroupMember: owner('DELETE', `/access-groups/${group}/members/${three.id}`),
    setAccessGroupGrant: owner('PUT', `/access-groups/${group}/grants/one`, { access: 'read' }),
    removeAccessGroupGrant: owner('DELETE', `/access-groups/${group}/grants/one`),
    createRepository: owner('POST', '/repositories', { id: 'made' }),
    deleteRepository: owner('DELETE', '/repositories/doomed'),
  }
}

const changesOfKeys = async ({ catalog: { service } }: Place): Promise<Record<string, Ask>> => {
  const bindings = [binding('changing', 'artifact.read')]
  const credential = service.recoveryKey
  const asOwner = (method: string, path: string, json?: unknown): Ask => ({
    method,
    path: `/api/v1${path}`,
    credential,
    ...(json === undefined ? {} : { json }),
  })
  const [account, other, third] = [
    await createServiceAccount(service, bindings),
    await createServiceAccount(service, bindings),
    await createServiceAccount(service, bindings),
  ]
  const [operator, rotated, revoked] = [
    await activeKey(service, account.id, { bindings }),
    await activeKey(service, other.id, { bindings }),
    await activeKey(service, other.id, { bindings }),
  ]
  const pending = await issueKey(service, third.id, { bindings })
  const delegation = `/api-keys/${operator.id}/delegations/${other.id}`
  return {
    createServiceAccount: asOwner('POST', '/service-accounts', { name: 'changing-robot', bindings }),
    updateServiceAccount: asOwner('PATCH', `/service-accounts/${account.id}`, { expectedRevision: 1, enabled: true }),
    putServicePolicy: asOwner('PUT', `/service-accounts/${other.id}/policy`, { expectedRevision: 1, bindings }),
    issueServiceKey: issueRequest(service, account.id, { bindings }),
    rotateServiceKey: rotateRequest(service, rotated.id, { bindings }),
    revokeServiceKey: asOwner('POST', `/api-keys/${revoked.id}/revoke`),
    activateServiceKey: activation(pending.secret),
    putDelegation: asOwner('PUT', delegation, { actions: ['credential.read'], ceiling: bindings }),
    deleteDelegation: asOwner('DELETE', delegation),
  }
}

const changesOfFiles = async ({ catalog, keeper, file, at }: Place): Promise<Record<string, Ask>> => {
  const { service, writer } = catalog
  const credential = writer.token
  const put = (path: string, json: unknown): Ask => ({ method: 'PUT', path: at(path), credential, json })
  const post = (path: string, json?: unknown): Ask => ({
    method: 'POST',
    path: at(path),
    credential,
    ...(json === undefined ? {} : { json }),
  })
  const [subject, doomed] = [await file(), await artifact(catalog)]
  const [deleted, missed] = [await artifact(catalog), await artifact(catalog)]
  const removal = (id: string): Ask => ({
    method: 'DELETE',
    path: at(`/artifacts/${id}`),
    credential: keeper,
    json: { expectedAnnotationRevision: 0 },
  })
  for (const id of [deleted, missed]) await expectAnswer(service, removal(id), 200)
  for (const path of ['/raw/twice', '/raw/often', '/raw/ended', '/raw/ended%20too'])
    for (const body of path === '/raw/ended%20too' ? ['once'] : ['first', 'second'])
      await expectAnswer(service, { method: 'PUT', path: at(path), credential, body }, 201)
  const whole = newFile('whole', 'the whole file')
  const inParts = fileOfParts('in parts', 1)
  const [sent, complete, later, over] = [
    await openSession(service, credential, 'changing', whole),
    await openSession(service, credential, 'changing', inParts),
    await openSession(service, credential, 'changing', inParts),
    await openSession(service, credential, 'changing', whole),
  ]
  const anybodys = await openSession(service, credential, 'changing', whole)
  const receiving = await openSession(service, credential, 'changing', inParts)
  for (const upload of [complete, later]) await sendParts(service, credential, upload, inParts)
  const octets = { 'content-type': 'application/octet-stream' }
  const part = partOf(inParts, 0)
  const criteria = { publishedBefore: new Date(service.clock.now() - 1).toISOString(), protectedLabels: [] }
  return {
    putRaw: { method: 'PUT', path: at('/raw/put'), credential, body: 'put by path' },
    putAsset: put('/asset', { path: 'by/id', artifactId: subject, expectedRevision: 0 }),
    removeRaw: { method: 'DELETE', path: at('/raw/ended'), credential },
    removeAsset: { ...put('/asset', { path: 'ended too', expectedRevision: 1 }), method: 'DELETE' },
    forgetAssetRevisions: { ...post('/asset/forget', { path: 'often', through: 1 }), credential: keeper },
    restoreAsset: post('/asset/restore', { path: 'twice', sourceRevision: 1, expectedRevision: 2 }),
    putAnnotations: put(`/artifacts/${subject}/annotations`, { expectedRevision: 0, value: { labels: ['new'] } }),
    putAttachments: put(`/artifacts/${subject}/attachments`, { expectedRevision: 0, items: [] }),
    addReference: post(`/artifacts/${subject}/references`, { key: 'kept' }),
    removeReference: { ...post(`/artifacts/${subject}/references`, { key: 'kept' }), method: 'DELETE' },
    addStage: put(`/artifacts/${subject}/stages/tested`, {}),
    removeStage: { method: 'DELETE', path: at(`/artifacts/${subject}/stages/tested`), credential },
    promoteArtifact: post(`/artifacts/${subject}/promote`, { target: 'target' }),
    createLink: post(`/artifacts/${subject}/links`, {}),
    registerPackage: post(
      `/artifacts/${await publishPackage(service, credential, 'changing', { name: 'new', version: '1.0.0' })}/package`,
    ),
    deleteArtifact: removal(doomed),
    restoreArtifact: { method: 'POST', path: at(`/artifacts/${deleted}/restore`), credential: keeper },
    restoreDeletedArtifact: { method: 'POST', path: at(`/deleted-artifacts/${missed}/restore`), credential },
    previewRetention: { ...post('/retention/preview', { criteria }), credential: keeper },
    applyRetention: {
      ...post('/retention/apply', { criteria, items: [{ id: subject, expectedAnnotationRevision: 0 }] }),
      credential: keeper,
    },
    putStoragePolicy: { ...put('/storage/policy', { expectedRevision: 0, policy }), credential: keeper },
    runStoragePolicy: { ...post('/storage/run', { expectedRevision: 1 }), credential: keeper },
    putImmutableTags: {
      ...put('/images/immutable-tags', { expectedRevision: 0, patterns: ['never-*'] }),
      credential: keeper,
    },
    setCleanup: { ...put('/cleanup', { expectedRevision: 0, graceHours: 1 }), credential: keeper },
    createUpload: {
      ...post('/uploads', newFile('opened', 'opened').descriptor),
      headers: { 'idempotency-key': 'opened' },
    },
    putUploadContent: { method: 'PUT', path: `${sent}/content`, credential, headers: octets, body: whole.bytes },
    cancelUpload: { method: 'DELETE', path: over, credential },
    cancelAnyUpload: {
      method: 'DELETE',
      path: anybodys.replace('/repositories/changing', ''),
      credential: service.recoveryKey,
    },
    putUploadPart: {
      method: 'PUT',
      path: `${receiving}/parts/0`,
      credential,
      headers: { ...octets, 'x-content-sha256': digestOf(part) },
      body: part,
    },
    completeUpload: { method: 'POST', path: `${complete}/complete`, credential },
    completeUploadAsync: { method: 'POST', path: `${later}/complete-async`, credential },
  }
}

const policy = {
  enabled: true,
  grouping: 'package',
  keepLast: 5,
  channels: [],
  protectedLabels: [],
  minAgeHours: 0,
  intervalMinutes: 60,
  quotaBytes: null,
  warningPercent: 80,
  criticalPercent: 90,
}

let artifacts = 0

/** A file that no path names, so that it can be deleted. */
const artifact = async (catalog: Catalog): Promise<string> => {
  const { service, writer } = catalog
  const given = newFile('loose', `loose ${++artifacts}`)
  const upload = await openSession(service, writer.token, 'changing', given)
  const headers = { 'content-type': 'application/octet-stream' }
  const asked = { method: 'PUT', path: `${upload}/content`, credential: writer.token, headers, body: given.bytes }
  return (await expectAnswer(service, asked, 200)).json.id
}
