import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { type GitDesk, newGitRemote, sitDownWithGit } from '../harness/git-desks.ts'
import { type AskedFor, askedOf, keyWith } from '../harness/keys-from-outside.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { askDoctor, endProgramsAfterTests } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const password = 'correct horse battery staple'
/** In batches of a hundred. */
const manyObjects = 5_000

describe('git with git-lfs', { timeout: 280_000 }, () => {
  let service: LoneService
  let told: AskedFor
  let ann: GitDesk
  let ben: GitDesk
  /** May read, and not write. */
  let eve: GitDesk
  before(async () => {
    service = await startLoneService('lfs-clients')
    told = askedOf(service)
    await told({ path: '/api/v1/users', json: { name: 'first', password } }, 201)
    ann = await person('ann', 'write')
    ben = await person('ben', 'write')
    eve = await person('eve', 'read')
  })
  after(async () => {
    for (const desk of [ann, ben, eve]) await desk[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  /** At a desk, with a personal token that git remembers. */
  const person = async (name: string, access: 'read' | 'write'): Promise<GitDesk> => {
    const desk = await sitDownWithGit(name)
    await desk.keepPassword(service.address, await tokenOf(name, access))
    return desk
  }
  const tokenOf = async (name: string, access: 'read' | 'write'): Promise<string> => {
    const { id } = (await told({ path: '/api/v1/users', json: { name, password } }, 201)).json
    const group = `/api/v1/access-groups/${(await told({ path: '/api/v1/access-groups', json: { name } }, 201)).json.id}`
    await told({ method: 'PUT', path: `${group}/members/${id}` }, 204)
    await told({ method: 'PUT', path: `${group}/grants/releases`, json: { access } }, 204)
    const signedIn = await told({ path: '/api/v1/auth/login', json: { name, password }, credential: null }, 200)
    const made = { path: '/api/v1/auth/tokens', json: { name: 'git' }, credential: signedIn.json.token }
    return (await told(made, 201)).json.token
  }

  const lfsAt = (below: string): string => `${service.address}/lfs/releases/${below}`
  const newRemote = (below: string): Promise<string> => newGitRemote(ann, below.replaceAll('/', '-'), lfsAt(below))
  const isAt = async (folder: string, path: string, bytes: Uint8Array): Promise<void> =>
    assert.ok((await readFile(join(folder, path))).equals(bytes), `${folder}/${path}`)

  test('pushes, clones, pulls, and finds everything in order', async () => {
    const remote = await newRemote('team/game')
    const folder = await ann.clone(remote, 'game')
    const [small, large] = [randomBytes(3_000), randomBytes(5_000_000)]
    await ann.commit(folder, { 'small.bin': small, 'deep/large.bin': large, 'empty.bin': '', 'plain.txt': 'plain' })
    await ann.git(folder, 'push', 'origin', 'main')

    const clone = await ben.clone(remote, 'game')
    for (const [path, bytes] of [
      ['small.bin', small],
      ['deep/large.bin', large],
      ['empty.bin', Buffer.alloc(0)],
    ] as const)
      await isAt(clone, path, bytes)
    assert.match(await ben.git(clone, 'lfs', 'fsck'), /fsck OK/)

    const changed = randomBytes(4_000)
    await ben.commit(clone, { 'small.bin': changed })
    await ben.git(clone, 'push', 'origin', 'main')
    await ann.git(folder, 'pull', '--quiet')
    await isAt(folder, 'small.bin', changed)
    await ann.git(folder, 'checkout', '--quiet', 'HEAD~1')
    await isAt(folder, 'small.bin', small)
    // Whoever may only read gets all of it, also of the past.
    const read = await eve.clone(remote, 'game')
    await isAt(read, 'small.bin', changed)
    await eve.git(read, 'lfs', 'fetch', '--all')
    assert.match(await eve.git(read, 'lfs', 'fsck'), /fsck OK/)
    assert.match(await ann.git(folder, 'lfs', 'push', '--all', 'origin'), /100% \(3\/3\)/)
  })

  test('gets what it has lost again, and is told of what is damaged', async () => {
    const remote = await newRemote('team/lost')
    const folder = await ann.clone(remote, 'lost')
    const bytes = randomBytes(50_000)
    const oid = hash('sha256', bytes)
    await ann.commit(folder, { 'a.bin': bytes })
    await ann.git(folder, 'push', 'origin', 'main')
    await rm(join(folder, '.git/lfs/objects', oid.slice(0, 2)), { recursive: true })
    assert.match(await ann.fails(folder, 'lfs', 'fsck'), new RegExp(oid))
    await ann.git(folder, 'lfs', 'fetch')
    assert.match(await ann.git(folder, 'lfs', 'fsck'), /fsck OK/)
  })

  test('locks files for one of two people', async () => {
    const remote = await newRemote('team/art')
    const folder = await ann.clone(remote, 'art')
    await ann.git(folder, 'lfs', 'track', '--lockable', '*.psd')
    await ann.commit(folder, { 'cover.psd': 'a cover', 'back.psd': 'a back' })
    await ann.git(folder, 'push', 'origin', 'main')
    const clone = await ben.clone(remote, 'art')
    for (const [desk, place] of [
      [ann, folder],
      [ben, clone],
    ] as const)
      await desk.git(place, 'config', `lfs.${lfsAt('team/art')}.locksverify`, 'true')

    assert.match(await ann.git(folder, 'lfs', 'lock', 'cover.psd'), /Locked cover\.psd/)
    assert.match(await ben.fails(clone, 'lfs', 'lock', 'cover.psd'), /already created lock/)
    assert.match(await ben.git(clone, 'lfs', 'locks'), /^cover\.psd\s+ann\s+ID:/)
    assert.match(await ben.git(clone, 'lfs', 'lock', 'back.psd'), /Locked back\.psd/)

    // What another has locked is not pushed; what is one's own, is.
    await ben.commit(clone, { 'cover.psd': 'another cover' })
    assert.match(await ben.fails(clone, 'push', 'origin', 'main'), /cover\.psd - ann/)
    await ben.git(clone, 'reset', '--quiet', '--hard', 'origin/main')
    await ben.commit(clone, { 'back.psd': 'another back' })
    assert.match(await ben.git(clone, 'push', 'origin', 'main'), /back\.psd/)
    const ours = await ben.git(clone, 'lfs', 'locks', '--verify')
    assert.match(ours, /^O back\.psd\s+ben/m)
    assert.match(ours, /^ {2}cover\.psd\s+ann/m)

    assert.match(await ben.fails(clone, 'lfs', 'unlock', 'cover.psd'), /cover\.psd has been locked by ann .*--force/)
    assert.match(await ben.git(clone, 'lfs', 'unlock', '--force', 'cover.psd'), /Unlocked cover\.psd/)
    await ben.git(clone, 'lfs', 'unlock', 'back.psd')
    assert.equal(await ann.git(folder, 'lfs', 'locks'), '')
  })

  test('moves thousands of small objects, which come back as they were', async () => {
    const remote = await newRemote('team/many')
    const folder = await ann.clone(remote, 'many')
    const files = Object.fromEntries(
      Array.from({ length: manyObjects }, (_, at) => [`${at % 50}/${at}.bin`, randomBytes(100 + (at % 4_000))]),
    )
    await ann.commit(folder, files)
    await ann.git(folder, 'push', 'origin', 'main')
    const clone = await ben.clone(remote, 'many')
    for (const [path, bytes] of Object.entries(files)) await isAt(clone, path, bytes)
    assert.match(await ben.git(clone, 'lfs', 'fsck'), /fsck OK/)
    for (const each of [folder, clone]) await rm(each, { recursive: true })
  })

  test('says in words why it may not push', async () => {
    const remote = await newRemote('team/refused')
    const folder = await eve.clone(remote, 'refused')
    await eve.commit(folder, { 'a.bin': randomBytes(2_000) })
    const refused = await eve.fails(folder, 'push', 'origin', 'main')
    assert.match(refused, /You may pull from the repository releases and not push to it\./)
    assert.match(
      await eve.fails(folder, 'lfs', 'lock', 'a.bin'),
      /Locking a\.bin failed: This needs asset\.write on this repository\./,
    )
    // A refusal throws no credential away: what may be read is read.
    assert.equal(await eve.git(folder, 'lfs', 'locks'), '')

    await eve.git(folder, 'config', 'lfs.url', lfsAt('').replace('releases', 'elsewhere'))
    assert.match(await eve.fails(folder, 'push', 'origin', 'main'), /There is no such repository that you may see\./)
    await eve.git(folder, 'config', '--unset', 'lfs.url')

    const stranger = await sitDownWithGit('stranger')
    await stranger.keepPassword(service.address, 'w'.repeat(40))
    const clone = await stranger.clone(remote, 'refused')
    await stranger.commit(clone, { 'a.bin': 'bytes' })
    assert.match(await stranger.fails(clone, 'push', 'origin', 'main'), /Git credentials for \S+ not found/)
    // Git forgets a password that was wrong.
    assert.equal(await readFile(join(stranger.home, 'credentials'), 'utf8'), '')
    await stranger[Symbol.asyncDispose]()
  })

  test('says which objects there is no room for', async () => {
    await told({ path: '/api/v1/repositories', json: { id: 'narrow' } }, 201)
    const pushes = ['upload.create', 'upload.write', 'upload.complete', 'content.read', 'artifact.list', 'asset.write']
    const credential = await keyWith(told, { narrow: [...pushes, 'storage.manage', 'storage.read'] })
    const path = '/api/v1/repositories/narrow/storage/policy'
    const { revision, policy } = (await told({ path, credential }, 200)).json
    const json = { expectedRevision: revision, policy: { ...policy, quotaBytes: '1000' } }
    await told({ method: 'PUT', path, credential, json }, 200)
    const desk = await sitDownWithGit('narrow')
    await desk.keepPassword(service.address, credential)
    const remote = await newGitRemote(desk, 'narrow', lfsAt('').replace('releases', 'narrow'))
    const folder = await desk.clone(remote, 'narrow')
    await desk.commit(folder, { 'fits.bin': randomBytes(500), 'large.bin': randomBytes(5_000) })
    assert.match(await desk.fails(folder, 'push', 'origin', 'main'), /The quota of the repository does not suffice/)
    await desk[Symbol.asyncDispose]()
  })

  test('says which objects are gone; whoever has them pushes them again', async () => {
    const remote = await newRemote('team/gone')
    const folder = await ann.clone(remote, 'gone')
    const bytes = randomBytes(2_500)
    const oid = hash('sha256', bytes)
    await ann.commit(folder, { 'a.bin': bytes })
    await ann.git(folder, 'push', 'origin', 'main')
    const keeper = await keyWith(told, { releases: ['artifact.list', 'artifact.delete'] })
    const path = `/api/v1/repositories/releases/lfs/objects/${oid}`
    await told({ method: 'DELETE', path, credential: keeper }, 204)
    assert.match(await ben.fails(ben.home, 'clone', '--quiet', remote, 'gone'), /There is no such object/)
    await ann.git(folder, 'lfs', 'push', '--all', 'origin')
    await isAt(await ben.clone(remote, 'back'), 'a.bin', bytes)
  })

  test('and leaves nothing behind that the doctor would tell of', async () => {
    assert.deepEqual(await readdir(join(service.dataDir, 'staging')), [])
    assert.deepEqual((await askDoctor(service.settings)).damage, [])
  })
})
