import { randomBytes, randomUUID } from 'node:crypto'
import { setQuota } from '../../src/features/lifecycle/policies/policy.ts'
import { noteSubscriptions, takeSubscription } from '../../src/features/operating/webhooks/standing.ts'
import type { Subscription } from '../../src/features/operating/webhooks/subscription.ts'
import { Catalog } from './catalog.ts'
import type { Ask } from './client.ts'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { byEngine } from './kept-inline.ts'
import { pushRichLfs } from './lfs-catalog.ts'
import { addPackage } from './packages.ts'
import { fileOfParts, openSession, sendParts } from './parts.ts'
import { createRepository, grant } from './people.ts'
import type { Environment } from './processes.ts'
import { newFile, openUpload, sendContent } from './publishing.ts'
import { pushRichImages } from './rich-images.ts'
import { publishRichNpmPackages } from './rich-npm.ts'
import { startService } from './service.ts'
import { activeKey, binding, createServiceAccount, issueKey } from './service-keys.ts'
import { until } from './until.ts'

/** A catalog with something of everything, and how to read it: questions by the ids of operations. */
export interface RichCatalog {
  readonly catalog: Catalog
  readonly questions: Readonly<Record<string, readonly Ask[]>>
  /** A file that was deleted and can be brought back. */
  readonly deleted: string
  /** An upload in parts that is under way in `releases`, and another of which nothing was sent. */
  readonly pending: readonly string[]
}

export const openRichCatalog = async (engine: TestEngine, settings: Environment = {}): Promise<RichCatalog> => {
  const catalog = await Catalog.open(engine, { ...byEngine(engine), ...settings })
  const { service, writer, reader, keeper } = catalog
  const owner = service.recoveryKey
  const expect = (asked: Ask, status: number) => expectAnswer(service, { credential: writer.token, ...asked }, status)
  await createRepository(service, 'two')
  await grant(service, writer, 'two', 'write')
  await grant(service, writer, 'releases', 'write')
  await setQuota(catalog.inspection, 'one', 10_000_000_000, 'operator')
  await catalog.expect(
    { method: 'PUT', path: '/cleanup', credential: keeper, json: { expectedRevision: 0, graceHours: 100 } },
    200,
  )

  const deps = { database: catalog.inspection.database, clock: service.clock }
  const builds: Subscription = {
    id: 'builds',
    repository: 'one',
    url: 'https://hooks.example.org/svc',
    actions: ['artifact.publish'],
  }
  await takeSubscription(deps, builds, 'a worker')
  const note = { position: 0, lastSuccessAt: null, to: { holder: null, leased_until: null } }
  await noteSubscriptions(deps, 'a worker', [{ subscription: builds, note }])

  // One that was brought back from a point.
  const began = '2026-01-01T00:00:00.000Z'
  const brought = { repository: 'two', source: 'gone', point_id: randomUUID(), begun_at: began, finished_at: began }
  await catalog.inspection.database.transaction((tx) =>
    tx.insertInto('restored_repositories').values(brought).execute(),
  )

  // Paths with history, an empty file, one of bytes that are no text, and one of several parts' length.
  const put = (path: string, body: string | Uint8Array) =>
    catalog.expect({ method: 'PUT', path: `/raw/${path}`, body }, 201)
  for (const content of ['first', 'second', 'third']) await put('notes/read%20me.txt', content)
  await put('empty', '')
  // One that was removed, and one that does not know its first revision any more.
  await put('removed', 'removed')
  await catalog.expect({ method: 'DELETE', path: '/raw/removed' }, 200)
  for (const content of ['one', 'two', 'three']) await put('forgetful', content)
  await catalog.expect({ path: '/asset/forget', credential: keeper, json: { path: 'forgetful', through: 1 } }, 200)
  await put('notes/%C3%A9', randomBytes(1_500_000))

  const opened = await openUpload(service, writer.token, 'one', newFile('ünï "x".bin', 'described').descriptor)
  const upload = String(opened.headers.location)
  const described = (await sendContent(service, writer.token, upload, 'described')).json.id
  const [build, sbom] = [await catalog.published(), await catalog.published()]
  const item = { name: 'sbom.json', kind: 'sbom', artifactId: sbom, description: '✓' }
  for (const [expectedRevision, items] of [[item], [], [item]].entries())
    await catalog.expect(
      { method: 'PUT', path: `/artifacts/${build}/attachments`, json: { expectedRevision, items } },
      200,
    )
  await catalog.expect({ path: `/artifacts/${build}/references`, json: { key: 'used/by:me' } }, 204)
  for (const stage of ['tested', 'approved'])
    await catalog.expect({ method: 'PUT', path: `/artifacts/${build}/stages/${stage}`, json: { comment: stage } }, 200)
  await catalog.expect({ method: 'DELETE', path: `/artifacts/${build}/stages/tested` }, 204)
  const copy = await catalog.expect(
    { path: `/artifacts/${build}/promote`, json: { target: 'two', comment: 'go' } },
    201,
  )
  const value = { labels: ['shown'], metadata: { size: 'Größe XL' }, collections: ['seen'] }
  await catalog.expect(
    { method: 'PUT', path: `/artifacts/${described}/annotations`, json: { expectedRevision: 0, value } },
    200,
  )
  const deleted = await catalog.published('deleted content')
  await catalog.remove(deleted)

  for (const version of ['1.0.0', '1.1.0-rc.1', '2.0.0+7'])
    await addPackage(service, writer.token, 'one', { name: 'Tool', group: 'a/b', version })
  const packages = '/packages'
  const newest = `name=tool&group=a/b&range=${encodeURIComponent('^1.0.0')}&prerelease=true`

  // Completed by a job, whose record is kept.
  const inParts = fileOfParts('in parts', 1)
  const session = await openSession(service, writer.token, 'one', inParts)
  await sendParts(service, writer.token, session, inParts)
  const worker = await startService(engine, { on: service, roles: { gateway: null, worker: true } })
  const job = (await expect({ method: 'POST', path: `${session}/complete-async` }, 202)).json.id
  await until('the job has ended', async () => {
    const told = await service.ask({ path: `/api/v1/jobs/${job}`, credential: writer.token })
    return told.json.status === 'completed'
  })
  await worker.stop()

  const half = fileOfParts('half', 1)
  const pending = [
    await openSession(service, writer.token, 'releases', half),
    await openSession(service, writer.token, 'releases', newFile('never sent', 'never sent')),
    // What it would store is stored by nobody but a file that is to be deleted for good.
    await openSession(service, writer.token, 'releases', newFile('same', 'deleted content')),
  ]
  await sendParts(service, writer.token, String(pending[0]), half, [0])
  const cancelled = await openSession(service, writer.token, 'one', newFile('cancelled', 'never mind'))
  await expect({ method: 'DELETE', path: cancelled }, 200)

  const images = await pushRichImages(catalog)
  const lfs = await pushRichLfs(catalog)
  const npmPackages = await publishRichNpmPackages(catalog)
  const token = (await expect({ path: '/api/v1/auth/tokens', json: { name: 'script', scope: 'read' } }, 201)).json.token
  await expect({ path: '/api/v1/auth/me', credential: token }, 200)
  // Written down a moment after the answer: what is told of the token later is the same each time.
  await until('the token is known to be used', async () => {
    const { items } = (await expect({ path: '/api/v1/auth/tokens' }, 200)).json
    return items.every(({ lastUsedAt }: { lastUsedAt: string | null }) => lastUsedAt !== null)
  })
  const link = (await catalog.expect({ path: `/artifacts/${described}/links`, json: {} }, 201)).json.token
  const bindings = [binding('one', 'artifact.read', 'storage.read', 'diagnostics.read')]
  const account = await createServiceAccount(service, bindings)
  const other = await createServiceAccount(service, bindings)
  const key = await activeKey(service, account.id, { bindings })
  await issueKey(service, account.id, { bindings })
  await expect(
    {
      method: 'PUT',
      path: `/api/v1/api-keys/${key.id}/delegations/${other.id}`,
      credential: owner,
      json: { actions: ['credential.read'], ceiling: bindings },
    },
    200,
  )
  const groups = (await expect({ path: '/api/v1/access-groups', credential: owner }, 200)).json.items

  const asWriter = (path: string): Ask => ({ path, credential: writer.token })
  const asOwner = (path: string): Ask => ({ path: `/api/v1${path}`, credential: owner })
  const here = (path: string): Ask => asWriter(catalog.base + path)
  const artifact = (path = ''): Ask[] =>
    [build, described, sbom]
      .map((id) => here(`/artifacts/${id}${path}`))
      .concat([asWriter(`/api/v1/repositories/two/artifacts/${copy.json.artifactId}${path}`)])
  const withToken = (path: string): Ask => ({ path: catalog.base + path, credential: token })
  const questions = {
    listOperations: [asWriter('/api/v1/operations')],
    getBackupStatus: [asOwner('/backup/status')],
    getBackupPlan: [asOwner('/backup/plan')],
    listBackupJobs: [asOwner('/backup/jobs')],
    listBackupPoints: [asOwner('/backup/points')],
    getCapabilities: [asWriter('/api/v1/capabilities')],
    getOpenApi: [asWriter('/api/v1/openapi.json')],
    getPermissions: [
      asWriter('/api/v1/auth/permissions'),
      { path: '/api/v1/auth/permissions', credential: key.secret },
    ],
    getAuthOptions: [{ path: '/api/v1/auth/options' }],
    getFrontPage: [{ path: '/' }],
    getIcon: [{ path: '/favicon.ico' }],
    getConsole: [{ path: '/console/' }],
    findConsole: [{ path: '/console' }],
    getMe: [writer.token, reader.token, owner, token, keeper].map((credential) => ({
      path: '/api/v1/auth/me',
      credential,
    })),
    listUsers: [asOwner('/users')],
    listSessions: [asWriter('/api/v1/auth/sessions')],
    listTokens: [asWriter('/api/v1/auth/tokens')],
    listUserTokens: [asOwner(`/users/${writer.id}/tokens`)],
    getServiceAccount: [asOwner(`/service-accounts/${account.id}`)],
    getServiceAudit: [asOwner(`/service-accounts/${account.id}/audit`)],
    getServiceKey: [asOwner(`/api-keys/${key.id}`)],
    getServicePolicy: [asOwner(`/service-accounts/${account.id}/policy`)],
    listDelegations: [asOwner(`/api-keys/${key.id}/delegations`)],
    listServiceAccounts: [asOwner('/service-accounts')],
    listServiceKeys: [asOwner(`/service-accounts/${account.id}/keys`)],
    getAccessGroup: groups.map(({ id }: { id: string }) => asOwner(`/access-groups/${id}`)),
    listAccessGroups: [asOwner('/access-groups')],
    listSecurityAudit: [asOwner('/security-audit')],
    listWebhooks: [asOwner('/webhooks')],
    explainAccess: ['artifact.delete', 'content.read'].map((action) =>
      asOwner(`/access/explain?caller=${writer.name}&repository=one&action=${action}`),
    ),
    listWhoMay: [asOwner('/access/who?repository=one'), asOwner('/access/who?repository=one&action=artifact.delete')],
    listAllRepositories: [asOwner('/access/repositories')],
    getRepository: [here(''), asWriter('/api/v1/repositories/two')],
    listRepositories: [asWriter('/api/v1/repositories'), asOwner('/repositories')],
    getJob: [asWriter(`/api/v1/jobs/${job}`)],
    getUpload: [asWriter(upload), asWriter(session), asWriter(cancelled)],
    listOpenUploads: [asOwner('/uploads')],
    listOwnUploads: [asWriter('/api/v1/uploads/own')],
    listOwnJobs: [asWriter('/api/v1/jobs?order=desc')],
    getAttention: [asWriter('/api/v1/attention')],
    listDeletedArtifacts: [here('/deleted-artifacts'), here('/deleted-artifacts?order=desc&limit=1')],
    listRemovedPaths: [here('/assets/removed')],
    listUploadParts: [asWriter(session)].map(({ path }) => asWriter(`${path}/parts`)),
    checkArtifactDeletion: [{ ...here(`/artifacts/${build}/deletion`), credential: keeper }],
    getArtifact: artifact(),
    getArtifactContent: [
      ...artifact('/content'),
      { path: `${catalog.base}/artifacts/${described}/content?token=${link}` },
    ],
    listArtifacts: [here('/artifacts'), here('/artifacts?limit=2'), withToken('/artifacts')],
    getAttachments: artifact('/attachments'),
    listAttachmentHistory: artifact('/attachments/history'),
    listArtifactStages: artifact('/stages'),
    listStages: [here('/stages?stage=approved')],
    listArtifactPromotions: artifact('/promotions'),
    listPromotions: [here('/promotions'), asWriter('/api/v1/repositories/two/promotions')],
    getCleanup: [{ ...here('/cleanup'), credential: key.secret }],
    getAnnotations: artifact('/annotations'),
    listAnnotationHistory: artifact('/annotations/history'),
    listReferences: artifact('/references'),
    searchArtifacts: [here('/search'), here('/search?q=TOOL'), here('/search?label=shown&collection=seen')],
    searchEverywhere: [asWriter('/api/v1/search?q=TOOL&paths=true'), asOwner('/search?order=desc')],
    explainArtifact: artifact('/explain').slice(0, 3),
    getStoragePolicy: [{ ...here('/storage/policy'), credential: key.secret }],
    listStorageEvents: [{ ...here('/storage/events'), credential: key.secret }],
    previewStorageRun: [{ ...here('/storage/preview'), credential: keeper }],
    listAudit: [here('/audit'), here('/audit?order=desc'), asWriter('/api/v1/repositories/two/audit')],
    listCatalogChanges: [here('/changes'), here('/changes?after=3&limit=2')],
    listAssetHistory: [here('/asset/history?path=notes/read%20me.txt')],
    getAssetRevision: [here('/asset/revision?path=notes/read%20me.txt&revision=1')],
    getStorageUsage: [{ ...here('/storage/usage'), credential: key.secret }],
    listUsageSamples: [{ ...here('/storage/samples?days=400'), credential: key.secret }],
    getAsset: [here('/asset?path=notes/read%20me.txt')],
    getAssetContent: [here('/asset/content?path=notes/read%20me.txt')],
    getRaw: [here('/raw/notes/read%20me.txt'), here('/raw/empty'), withToken('/raw/notes/%C3%A9')],
    listArtifactPaths: artifact('/paths'),
    listAssetPage: [here('/assets/page?delimiter=/'), here('/assets/page'), here('/assets/page?prefix=notes/')],
    listAssets: [here('/assets')],
    getPackageContent: [here(`${packages}/content?${newest}`)],
    listPackages: [here(packages), here(`${packages}?name=TOOL&sort=version`)],
    resolvePackage: [here(`${packages}/resolve?${newest}`)],
    ...images,
    ...lfs,
    ...npmPackages,
  }
  return { catalog, questions, deleted, pending }
}
