import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { after, before, describe, test } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { type CuttingLine, type PassedHead, startCuttingLine } from '../harness/cutting-line.ts'
import { type GitDesk, newGitRemote, sitDownWithGit } from '../harness/git-desks.ts'
import { askedOf, keyWith } from '../harness/keys-from-outside.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { askDoctor, endProgramsAfterTests, peakMiBOf } from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'

endProgramsAfterTests()
after(closeConnections)

const mebibyte = 1024 * 1024
const size = 300 * mebibyte
const pushes = ['artifact.list', 'asset.write', 'content.read', 'upload.complete', 'upload.create', 'upload.write']
/** git-lfs waits twice as long before each try as before the last one. */
const breaks = 4
const seed = process.env['SVC_TEST_SEED'] ?? 'lines break'

describe('an object of 300 MB on a line that breaks at random moments', { timeout: 280_000 }, () => {
  let service: LoneService
  let line: CuttingLine
  let desk: GitDesk
  let folder: string
  let oid: string
  const random = randomOf(seed)
  before(async () => {
    service = await startLoneService('lfs-cut')
    const told = askedOf(service)
    await told({ path: '/api/v1/repositories', json: { id: 'second' } }, 201)
    const key = await keyWith(told, { releases: pushes, second: pushes })
    line = await startCuttingLine(service.address)
    desk = await sitDownWithGit('cut')
    await desk.keepPassword(line.url, key)
    const remote = await newGitRemote(desk, 'cut', `${line.url}/lfs/releases`)
    folder = await desk.clone(remote, 'cut')
    const piece = randomBytes(mebibyte)
    await desk.commit(folder, { 'large.bin': Buffer.concat(Array.from({ length: 300 }, () => piece)) })
    oid = await sha256Of(join(folder, 'large.bin'))
    await rm(join(folder, 'large.bin'))
  })
  after(async () => {
    await desk[Symbol.asyncDispose]()
    await line[Symbol.asyncDispose]()
    await service[Symbol.asyncDispose]()
  })

  const sha256Of = async (path: string): Promise<string> => {
    const sha256 = createHash('sha256')
    await pipeline(createReadStream(path), sha256)
    return sha256.digest('hex')
  }
  const transfers = (method: string): PassedHead[] => {
    const passed = line.heads.splice(0)
    return passed.filter((head) => head.method === method && head.path.includes(oid))
  }
  const cutAt = (...bytes: number[]): void => {
    line.cuts.push(...bytes.map((each) => Math.floor(each) + 1))
  }

  test('tus goes on from where it was', async () => {
    await desk.git(folder, 'config', 'lfs.tustransfers', 'true')
    const cuts = Array.from({ length: breaks }, () => random() * 70 * mebibyte)
    cutAt(...cuts)
    await desk.git(folder, 'push', 'origin', 'main')
    assert.deepEqual(line.cuts, [])
    const offsets = transfers('PATCH').map(({ headers }) => Number(headers['upload-offset']))
    assert.equal(offsets.length, cuts.length + 1, `seed ${seed}: ${offsets}`)
    for (const [at, offset] of offsets.entries()) assert.ok(at === 0 || offset > (offsets[at - 1] ?? 0), `${offsets}`)
  })

  test('basic begins again', async () => {
    await desk.git(folder, 'config', 'lfs.tustransfers', 'false')
    await desk.git(folder, 'config', 'lfs.url', `${line.url}/lfs/second`)
    cutAt(random() * size, random() * size, random() * size)
    await desk.git(folder, 'lfs', 'push', '--all', 'origin')
    assert.deepEqual(line.cuts, [])
    assert.equal(transfers('PUT').length, 4)
  })

  for (const repository of ['releases', 'second'])
    test(`comes back bit by bit from ${repository}, and goes on from where it was`, async () => {
      await rm(join(folder, '.git/lfs'), { recursive: true })
      await desk.git(folder, 'config', 'lfs.url', `${line.url}/lfs/${repository}`)
      line.heads.length = 0
      cutAt(...Array.from({ length: breaks }, () => random() * 70 * mebibyte))
      await desk.git(folder, 'lfs', 'fetch')
      assert.deepEqual(line.cuts, [])
      const fetched = join(folder, '.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid)
      assert.equal(await sha256Of(fetched), oid)
      const ranges = transfers('GET').map(({ headers }) => headers['range'])
      assert.equal(ranges.length, breaks + 1)
      assert.equal(ranges[0], undefined)
      for (const range of ranges.slice(1)) assert.match(range ?? '', /^bytes=[1-9]\d*-/)
    })

  test('and nothing is left behind, in memory neither', async () => {
    const most = peakMiBOf(service.program)
    // Twice the object came in, and more than once for the breaks.
    assert.ok(most < 400, `the server took ${most} MiB`)
    assert.deepEqual((await askDoctor(service.settings)).damage, [])
  })
})
