import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, it } from 'node:test'
import { changes, type Operation, reads } from '../../src/contract/operation.ts'
import { administrationActions } from '../../src/kernel/actions.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer, reasonOf } from '../harness/expect.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { createOwner, createPerson, grant, type Person, password } from '../harness/people.ts'
import { probeOf } from '../harness/probe.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount, issueKey, revocation } from '../harness/service-keys.ts'
import { challengeAt, isOfOthers, wireOf } from '../harness/wires.ts'

after(closeConnections)

/** Who may call what, in the groups of the specification. An operation that stands in no group fails the test. */
const groups = {
  anyone:
    'getLiveness getHealthStatus login register getAuthOptions getFrontPage getIcon getConsole findConsole pingNpmRegistry putNpmUser beginNpmSignIn getNpmSignInPage confirmNpmSignIn collectNpmSignIn',
  credential:
    'getReadiness getMetrics getCapabilities getOpenApi listOperations getPermissions getMe logout listRepositories listServiceAccounts searchEverywhere listOwnUploads listOwnJobs getAttention getRegistryVersion getRegistryToken listImages getNpmWhoami endNpmToken getNpmProfile listNpmTokens createNpmToken revokeNpmToken',
  session: 'changePassword createToken endSession listSessions listTokens revokeToken',
  administrator:
    'createUser listUsers updateUser listUserTokens revokeUserToken addAccessGroupMember createAccessGroup deleteAccessGroup getAccessGroup listAccessGroups removeAccessGroupGrant removeAccessGroupMember setAccessGroupGrant listSecurityAudit explainAccess listWhoMay listAllRepositories createRepository deleteRepository listOpenUploads cancelAnyUpload getOverview listServiceSamples getBackupStatus getBackupPlan putBackupPlan runBackup listBackupJobs listBackupPoints verifyBackupPoint pinBackupPoint getBackupPoint listBackupPointContents deleteBackupPoint listWebhooks getNpmUpstream putNpmUpstream deleteNpmUpstream dropCachedNpmPackages',
  recovery: 'createServiceAccount listDelegations putDelegation deleteDelegation',
  delegated:
    'getServiceAccount getServicePolicy getServiceAudit listServiceKeys getServiceKey updateServiceAccount putServicePolicy issueServiceKey rotateServiceKey revokeServiceKey',
  'own key': 'activateServiceKey',
  'own job': 'getJob',
  'read access':
    'getRepository getArtifact getArtifactContent createLink listArtifacts getAsset getAssetContent getRaw listAssetPage listAssets getAttachments listAttachmentHistory listArtifactStages listStages listArtifactPromotions listPromotions promoteArtifact listPackages resolvePackage getPackageContent listAssetHistory getAssetRevision listAudit listCatalogChanges getAnnotations listAnnotationHistory listReferences searchArtifacts explainArtifact listArtifactPaths listRemovedPaths getBlob getManifest listTags listReferrers listRepositoryImages listImageTags listRemovedTags listTagMoves getImageManifest listImageReferrers listImageStages getImmutableTags promoteImage listImagePromotions explainImage explainNpmVersion askLfsBatch getLfsObject listLfsObjects listLfsLocks getLfsSettings getNpmRegistry getNpmUser listNpmAdvisories getNpmVisibility listNpmCollaborators getPackument getNpmManifest getNpmTarball listDistTags searchNpmPackages getAttestations listNpmPackages listNpmVersions listDeletedNpmVersions getNpmVersion listNpmStages promoteNpmVersion listNpmPromotions listCachedNpmPackages listCachedNpmVersions',
  'write access':
    'getUpload createUpload cancelUpload putUploadContent listUploadParts putUploadPart completeUpload completeUploadAsync putAsset putRaw addReference removeReference putAttachments addStage removeStage registerPackage restoreAsset putAnnotations removeAsset removeRaw listDeletedArtifacts restoreDeletedArtifact beginBlob appendToBlob completeBlob getBlobUpload cancelBlob putManifest deleteManifest setImageTag deleteImageTag addImageStage removeImageStage putLfsObject getLfsUpload appendToLfsObject verifyLfsObject listDeletedLfsObjects restoreLfsObject createLfsLock verifyLfsLocks removeLfsLock putPackage putPackageAt setDistTag deleteDistTag setNpmAccess restoreNpmVersion addNpmStage removeNpmStage',
  'service keys alone':
    'checkArtifactDeletion deleteArtifact restoreArtifact getStorageUsage listUsageSamples getCleanup setCleanup getStoragePolicy putStoragePolicy previewStorageRun runStoragePolicy listStorageEvents previewRetention applyRetention forgetAssetRevisions deleteBlob deleteImageManifest putImmutableTags deleteLfsObject putLfsSettings deletePackage deleteTarball deleteNpmVersion',
} as const
type Group = keyof typeof groups

/** What each credential is told, group by group in the order above; 200 stands for being let through. */
const table: Record<string, readonly number[]> = {
  //                        any  cred sess adm  reco dele own  job  read write keys
  'no credential': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'too short': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'too long': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'another scheme': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'unknown key': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'unknown session': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'unknown token': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'unknown service key': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  session: [200, 200, 200, 403, 403, 404, 403, 404, 200, 403, 403],
  'administrator session': [200, 200, 200, 200, 403, 404, 403, 404, 404, 404, 404],
  'read token': [200, 200, 403, 403, 403, 404, 403, 404, 200, 200, 403],
  'read-write token': [200, 200, 403, 403, 403, 404, 403, 404, 200, 200, 403],
  'expired session': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'session of a disabled account': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'token of a disabled account': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'token of a changed password': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'ended session': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'revoked token': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'expired token': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'service key never activated': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'pending service key': [200, 401, 401, 401, 401, 401, 200, 401, 401, 401, 401],
  'active service key': [200, 200, 403, 403, 403, 404, 200, 404, 200, 403, 403],
  'operator key': [200, 200, 403, 403, 403, 200, 200, 404, 200, 403, 403],
  'key beyond its policy': [200, 200, 403, 403, 403, 404, 200, 404, 404, 404, 404],
  'revoked service key': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'expired service key': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'disabled service key': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'recovery key': [200, 200, 403, 200, 200, 200, 403, 404, 200, 200, 403],
  'file key with read': [200, 200, 403, 403, 403, 404, 403, 404, 200, 403, 403],
  'file key with read and write': [200, 200, 403, 403, 403, 404, 403, 404, 200, 200, 403],
  'file key with write alone': [200, 200, 403, 403, 403, 404, 403, 404, 403, 403, 403],
  'download link': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'health key': [200, 200, 403, 403, 403, 404, 403, 404, 404, 404, 404],
  pass: [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
  'pass of a revoked token': [200, 401, 401, 401, 401, 401, 401, 401, 401, 401, 401],
}

/** Who is told at other protocols what another is: they take Basic, and the registry its own passes. */
const elsewhere = (kind: string, operation: Operation): string => {
  if (kind === 'another scheme' && isOfOthers(operation)) return 'recovery key'
  return kind === 'pass' && wireOf(operation).name === 'oci' ? 'session' : kind
}

/**
 * Whoever writes and does not read sends files, sees to how that goes, and ends paths; a repository that it cannot read
 * has no card.
 */
const forWriteAlone =
  'getUpload createUpload cancelUpload putUploadContent listUploadParts putUploadPart completeUpload completeUploadAsync removeAsset removeRaw beginBlob appendToBlob completeBlob getBlobUpload cancelBlob putManifest deleteManifest deleteImageTag askLfsBatch putLfsObject getLfsUpload appendToLfsObject verifyLfsObject createLfsLock verifyLfsLocks removeLfsLock putPackage putPackageAt setDistTag deleteDistTag setNpmAccess'.split(
    ' ',
  )

/** Reasons of 401 that are not simply "invalid". */
const reasons: Readonly<Record<string, string>> = {
  'no credential': 'credential_missing',
  'expired session': 'session_expired',
  'expired token': 'token_expired',
  'service key never activated': 'token_expired',
  'expired service key': 'token_expired',
}

const groupOf = (id: string): Group => {
  const found = Object.entries(groups).flatMap(([group, ids]) => (ids.split(' ').includes(id) ? [group as Group] : []))
  assert.equal(found.length, 1, `${id} must stand in one group of this file: say who may call it`)
  return found[0] ?? 'anyone'
}

/** What is no GET, and changes nothing but the credential itself. */
const openToReadTokens = ['logout', 'endNpmToken', 'revokeNpmToken', 'listNpmAdvisories']

/** What only who writes may look at: what a read token could only bring back, or go on with. */
const partOfWriting = ['listDeletedArtifacts', 'getBlobUpload', 'getLfsUpload', 'listDeletedLfsObjects']

const expected = (kind: string, group: Group, changes: boolean, id: string): number => {
  // The one rule that no column can say: a read token changes nothing, whatever else it may do, and may log out.
  if (kind === 'read token' && changes && !openToReadTokens.includes(id) && group !== 'anyone') return 403
  if (kind === 'read token' && partOfWriting.includes(id)) return 403
  if (kind === 'file key with write alone' && forWriteAlone.includes(id)) return 200
  if (kind === 'file key with write alone' && id === 'getRepository') return 404
  return table[kind]?.[Object.keys(groups).indexOf(group)] ?? 0
}

forEachEngine((engine) => {
  let service: TestService
  let reader: Person
  let target: string
  let targetKey: string
  let headersOf: Record<string, Record<string, string>>

  before(async () => {
    service = await startService(engine)
    const keys = await addFileKeys(service, [
      { id: 'read', repositories: [{ repository: 'releases', permissions: ['read'] }] },
      { id: 'both', repositories: [{ repository: 'releases', permissions: ['read', 'write'] }] },
      { id: 'write', repositories: [{ repository: 'releases', permissions: ['write'] }] },
    ])
    await createOwner(service)
    const looking = [
      'repository.read',
      'artifact.read',
      'artifact.list',
      'content.read',
      'asset.read',
      'annotation.read',
      'package.read',
      'audit.read',
    ] as const
    const wish = { bindings: [binding('releases', ...looking)] }
    // What takes long to expire comes first.
    const early = await createPerson(service, 'early')
    const slow = await createServiceAccount(service, wish.bindings)
    const neverActivated = await issueKey(service, slow.id, wish)
    service.clock.advance(12 * 3_600_000)
    reader = await createPerson(service, 'reader')
    await grant(service, reader, 'releases', 'read')
    const writer = await createPerson(service, 'writer')
    await grant(service, writer, 'releases', 'write')
    const administrator = await createPerson(service, 'admin', true)
    const gone = await createPerson(service, 'gone')
    await expectAnswer(service, { method: 'POST', path: '/api/v1/auth/logout', credential: gone.token }, 204)

    const soon = new Date(service.clock.now() + 60_000).toISOString()
    const newToken = async (json: object, credential = writer.token): Promise<{ id: string; token: string }> =>
      (await expectAnswer(service, { path: '/api/v1/auth/tokens', credential, json: { name: 'x', ...json } }, 201)).json
    const revokedToken = await newToken({})
    const path = `/api/v1/auth/tokens/${revokedToken.id}`
    await expectAnswer(service, { method: 'DELETE', path, credential: writer.token }, 204)

    const robot = await createServiceAccount(service, wish.bindings)
    const [active, revoked] = [await activeKey(service, robot.id, wish), await activeKey(service, robot.id, wish)]
    await expectAnswer(service, revocation(revoked.id, service.recoveryKey), 200)
    const off = await createServiceAccount(service, wish.bindings)
    const disabled = await activeKey(service, off.id, wish)
    const patch = { method: 'PATCH', path: `/api/v1/service-accounts/${off.id}`, credential: service.recoveryKey }
    await expectAnswer(service, { ...patch, json: { expectedRevision: 1, enabled: false } }, 200)
    const other = await createServiceAccount(service, wish.bindings)
    target = other.id
    targetKey = (await issueKey(service, target, wish)).id

    const banned = await createPerson(service, 'banned')
    const bannedToken = await newToken({}, banned.token)
    const patchBanned = { method: 'PATCH', path: `/api/v1/users/${banned.id}`, credential: service.recoveryKey }
    await expectAnswer(service, { ...patchBanned, json: { enabled: false } }, 200)
    const changed = await createPerson(service, 'changed')
    const changedToken = await newToken({}, changed.token)
    const change = { currentPassword: password, newPassword: 'another long password' }
    await expectAnswer(service, { path: '/api/v1/auth/password', credential: changed.token, json: change }, 204)

    const operator = await activeKey(service, (await createServiceAccount(service, wish.bindings)).id, wish)
    const delegation = { actions: administrationActions, ceiling: wish.bindings }
    const delegations = `/api/v1/api-keys/${operator.id}/delegations/${target}`
    const put = { method: 'PUT', path: delegations, credential: service.recoveryKey, json: delegation }
    await expectAnswer(service, put, 200)
    const narrowed = await createServiceAccount(service, wish.bindings)
    const beyond = await activeKey(service, narrowed.id, wish)
    const policy = { method: 'PUT', path: `/api/v1/service-accounts/${narrowed.id}/policy`, credential: put.credential }
    await expectAnswer(service, { ...policy, json: { expectedRevision: 1, bindings: [] } }, 200)

    const file = await publish(service, writer.token, 'releases', newFile('file', 'x'))
    const links = `/api/v1/repositories/releases/artifacts/${file}/links`
    const link = (await expectAnswer(service, { path: links, credential: writer.token, json: {} }, 201)).json.token

    const passFor = async (credential: string): Promise<string> =>
      (await expectAnswer(service, { path: '/v2/token', credential }, 200)).json.token
    const lost = await newToken({})
    const passOfLost = await passFor(lost.token)
    const revoke = { method: 'DELETE', path: `/api/v1/auth/tokens/${lost.id}`, credential: writer.token }
    await expectAnswer(service, revoke, 204)

    const credentials: Record<string, string> = {
      pass: await passFor(reader.token),
      'pass of a revoked token': passOfLost,
      'expired session': early.token,
      'session of a disabled account': banned.token,
      'token of a disabled account': bannedToken.token,
      'token of a changed password': changedToken.token,
      'service key never activated': neverActivated.secret,
      'operator key': operator.secret,
      'key beyond its policy': beyond.secret,
      'download link': link,
      'too short': 'a'.repeat(31),
      'too long': 'a'.repeat(513),
      'unknown key': randomBytes(32).toString('hex'),
      'unknown session': `dps_${randomBytes(32).toString('base64url')}`,
      'unknown token': `pat_${randomBytes(32).toString('base64url')}`,
      'unknown service key': `svc_${active.id}.${randomBytes(32).toString('base64url')}`,
      session: reader.token,
      'administrator session': administrator.token,
      'read token': (await newToken({ scope: 'read' })).token,
      'read-write token': (await newToken({})).token,
      'ended session': gone.token,
      'revoked token': revokedToken.token,
      'expired token': (await newToken({ expiresAt: soon })).token,
      'pending service key': (await issueKey(service, robot.id, wish)).secret,
      'active service key': active.secret,
      'revoked service key': revoked.secret,
      'expired service key': (await activeKey(service, robot.id, { ...wish, expiresAt: soon })).secret,
      'disabled service key': disabled.secret,
      'recovery key': service.recoveryKey,
      'file key with read': keys['read'] ?? '',
      'file key with read and write': keys['both'] ?? '',
      'file key with write alone': keys['write'] ?? '',
      'health key': service.healthKey,
    }
    headersOf = {
      'no credential': {},
      'another scheme': { authorization: `Basic ${btoa(`owner:${service.recoveryKey}`)}` },
    }
    for (const [kind, credential] of Object.entries(credentials))
      headersOf[kind] = { authorization: `Bearer ${credential}` }
    // Far enough away that a slow machine makes all of them before.
    service.clock.advance(61_000)
  })
  after(() => service.stop())

  const requestOf = (operation: { method: string; path: string }): Ask & { method: string } => {
    const id = operation.path.startsWith('/api/v1/api-keys/') ? targetKey : target
    return probeOf({ method: operation.method as 'GET', path: operation.path }, { repository: 'releases', id })
  }
  const checkAnswer = (what: string, kind: string, told: Told, status: number, operation: Operation): void => {
    assert.equal(told.headers['set-cookie'], undefined, `${what}: no cookies`)
    const got = told.status === 400 ? 200 : told.status
    assert.equal(got, status, `${what}: ${told.text}`)
    if (status !== 401) {
      assert.equal(told.headers['www-authenticate'], undefined, what)
      return
    }
    const reason = reasons[kind] ?? 'credential_invalid'
    assert.match(String(told.headers['www-authenticate']), challengeAt(operation, reason), what)
    if (told.text !== '') assert.equal(reasonOf(told), reason, what)
  }
  const expectedOf = (kind: string, operation: Operation): number => {
    const { id } = operation
    if (kind === 'pass' && id === 'getRegistryToken') return 403
    return expected(elsewhere(kind, operation), groupOf(id), changes(operation), id)
  }

  it('knows who may call each operation', () => {
    const known = Object.values(groups).flatMap((ids) => ids.split(' '))
    assert.deepEqual(
      known.toSorted(),
      catalogue()
        .map(({ id }) => id)
        .toSorted(),
    )
  })

  it('has a way to make each kind of credential', () => {
    assert.deepEqual(Object.keys(headersOf).toSorted(), Object.keys(table).toSorted())
  })

  for (const kind of Object.keys(table))
    it(`answers ${kind} as the table says, on every operation`, async () => {
      for (const operation of catalogue()) {
        const request = { ...requestOf(operation), headers: headersOf[kind] ?? {} }
        const status = expectedOf(kind, operation)
        const told = await service.ask(request)
        checkAnswer(`${operation.id} with ${kind}`, kind, told, status, operation)
        if (kind === 'read token' && status === 403 && changes(operation))
          assert.equal(reasonOf(told), 'read_only_token')
        if (!reads(operation)) continue
        const head = await service.ask({ ...request, method: 'HEAD' })
        checkAnswer(`HEAD ${operation.id} with ${kind}`, kind, head, status, operation)
      }
    })

  it('is what the header says, whatever a cookie or the query says', async () => {
    const path = '/api/v1/auth/me'
    for (const headers of [{ cookie: `token=${reader.token}; session=${reader.token}` }, { 'x-api-key': reader.token }])
      await expectAnswer(service, { path, headers: headers as Record<string, string> }, 401, 'credential_missing')
    await expectAnswer(service, { path: `${path}?token=${reader.token}` }, 401, 'credential_missing')
    await expectAnswer(service, { path, headers: { authorization: reader.token } }, 401, 'credential_invalid')
    await expectAnswer(service, { path, headers: { authorization: `bearer ${reader.token}` } }, 200)
    const told = await expectAnswer(service, { path, credential: reader.token }, 200)
    assert.equal(told.headers['set-cookie'], undefined)
  })

  it('of a session that is over is told apart only by its holder', async () => {
    const late = await createPerson(service, 'late')
    service.clock.advance(12 * 3_600_000 - 5_000)
    await expectAnswer(service, { path: '/api/v1/auth/me', credential: late.token }, 200)
    service.clock.advance(6_000)
    const told = await expectAnswer(
      service,
      { path: '/api/v1/auth/me', credential: late.token },
      401,
      'session_expired',
    )
    assert.match(String(told.headers['www-authenticate']), /error="session_expired"/)
    const near = `${late.token.slice(0, -4)}AAAA`
    await expectAnswer(service, { path: '/api/v1/auth/me', credential: near }, 401, 'credential_invalid')
  })
})
