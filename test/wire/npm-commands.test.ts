import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { type Desk, sitDown } from '../harness/npm-clients.ts'
import { largeDocument } from '../harness/npm-documents.ts'
import { everything, type NpmService, publishing, reading, startNpmService } from '../harness/npm-service.ts'
import { askDoctor, endProgramsAfterTests, peakMiBOf } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

const npms = ['npm 10', 'npm 11'] as const
const password = 'correct horse battery staple'

const bytesIn = async (folder: string): Promise<number> => {
  const files = await readdir(folder, { withFileTypes: true, recursive: true })
  const sizes = files
    .filter((file) => file.isFile())
    .map(async (file) => (await stat(join(file.parentPath, file.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

describe('commands of npm', { timeout: 290_000 }, () => {
  let site: NpmService
  let key: string
  let desk: Desk
  before(async () => {
    site = await startNpmService('npm-commands')
    key = await site.keyFor({ releases: everything })
    desk = await sitDown(site.npmrc(key))
  })
  after(async () => {
    await desk[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  const publish = async (name: string, version: string, ...more: string[]): Promise<void> => {
    const folder = await desk.folder(`packages/${name}-${version}`, {
      'package.json': { name, version, description: `what ${name} is for`, keywords: ['wire'], license: 'MIT' },
      'README.md': `# ${name}\n`,
    })
    await desk.run('npm 11', folder, 'publish', ...more)
  }
  const document = async (name: string) => (await site.told({ path: `/npm/releases/${name}` }, 200)).json
  const run = (...args: string[]): Promise<string> => desk.run('npm 11', desk.home, ...args)
  const fails = (...args: string[]): Promise<string> => desk.fails('npm 11', desk.home, ...args)
  const account = async (name: string): Promise<string> =>
    (await site.told({ path: '/api/v1/users', json: { name, password } }, 201)).json.id

  test('dist-tag: lists tags, sets one, moves it and takes it away', async () => {
    await publish('tagged', '1.0.0')
    await publish('tagged', '2.0.0-rc.1', '--tag', 'next')
    for (const npm of npms) {
      await desk.run(npm, desk.home, 'dist-tag', 'add', 'tagged@1.0.0', 'stable')
      assert.deepEqual((await desk.run(npm, desk.home, 'dist-tag', 'ls', 'tagged')).split('\n').sort(), [
        'latest: 1.0.0',
        'next: 2.0.0-rc.1',
        'stable: 1.0.0',
      ])
      await desk.run(npm, desk.home, 'dist-tag', 'add', 'tagged@2.0.0-rc.1', 'stable')
      assert.equal((await document('tagged'))['dist-tags'].stable, '2.0.0-rc.1')
      await desk.run(npm, desk.home, 'dist-tag', 'rm', 'tagged', 'stable')
    }
    assert.deepEqual((await document('tagged'))['dist-tags'], { latest: '1.0.0', next: '2.0.0-rc.1' })
    assert.match(await fails('dist-tag', 'rm', 'tagged', 'latest'), /latest/)
    assert.match(await fails('dist-tag', 'add', 'tagged@9.9.9', 'stable'), /9\.9\.9/)
  })

  test('dist-tag of yarn and pnpm do the same', async () => {
    await publish('tagged-too', '1.0.0')
    await desk.run('yarn 1', desk.home, 'tag', 'add', 'tagged-too@1.0.0', 'stable')
    await desk.run('pnpm', desk.home, 'dist-tag', 'add', 'tagged-too@1.0.0', 'tested')
    assert.deepEqual((await document('tagged-too'))['dist-tags'], { latest: '1.0.0', stable: '1.0.0', tested: '1.0.0' })
  })

  test('deprecate: says so at every install, and takes it back', async () => {
    await publish('old', '1.0.0')
    await publish('old', '1.1.0')
    const { time } = await document('old')
    for (const npm of npms) {
      await desk.run(npm, desk.home, 'deprecate', 'old@1.0.0', 'use 1.1.0 or later')
      const said = await document('old')
      assert.equal(said.versions['1.0.0'].deprecated, 'use 1.1.0 or later')
      assert.ok(said.versions['1.1.0'].deprecated === undefined)
      assert.deepEqual([said.time['1.0.0'], said.time['1.1.0']], [time['1.0.0'], time['1.1.0']])
      const folder = await desk.folder('deprecated', { 'package.json': { name: 'd', private: true } })
      const program = await desk.run(npm, folder, 'view', 'old@1.0.0', 'deprecated')
      assert.equal(program, 'use 1.1.0 or later')
      await desk.run(npm, desk.home, 'deprecate', 'old@1.0.0', '')
      assert.ok(!(await document('old')).versions['1.0.0'].deprecated)
    }
  })

  test('unpublish: takes a version away for good, and then the package', async () => {
    for (const version of ['1.0.0', '1.0.1', '1.0.2', '1.0.3']) await publish('passing', version)
    await desk.run('npm 10', desk.home, 'unpublish', 'passing@1.0.3')
    await run('unpublish', 'passing@1.0.2')
    const left = await document('passing')
    assert.deepEqual(Object.keys(left.versions), ['1.0.0', '1.0.1'])
    assert.equal(left['dist-tags'].latest, '1.0.1')
    const again = await desk.folder('packages/passing-1.0.2')
    assert.match(await desk.fails('npm 11', again, 'publish'), /1\.0\.2/)
    const folder = await desk.folder('gone', { 'package.json': { name: 'g', private: true } })
    assert.match(await desk.fails('npm 11', folder, 'install', 'passing@1.0.2'), /ETARGET|No matching version/)
    await desk.run('npm 10', desk.home, 'unpublish', 'passing', '--force')
    await site.told({ path: '/npm/releases/passing' }, 404)
  })

  test('unpublish of who may not is refused in words, and takes nothing away', async () => {
    for (const version of ['1.0.0', '1.1.0']) await publish('staying', version)
    const writer = await sitDown(site.npmrc(await site.keyFor({ releases: publishing })))
    for (const what of [['staying@1.0.0'], ['staying', '--force']])
      assert.match(await writer.fails('npm 11', writer.home, 'unpublish', ...what), /E403|artifact\.delete/)
    assert.deepEqual(Object.keys((await document('staying')).versions), ['1.0.0', '1.1.0'])
    await writer[Symbol.asyncDispose]()
  })

  test('whoever may only read hears it as a 403 with its reason', async () => {
    for (const version of ['1.0.0', '1.1.0']) await publish('readable', version)
    const reader = await sitDown(site.npmrc(await site.keyFor({ releases: reading })))
    const folder = await reader.folder('p', { 'package.json': { name: 'readable', version: '2.0.0' } })
    const project = await reader.folder('q', { 'package.json': { name: 'q', private: true } })
    await reader.run('npm 11', project, 'install', 'readable')
    const refused = [
      ['publish'],
      ['dist-tag', 'add', 'readable@1.0.0', 'stable'],
      ['deprecate', 'readable@1.0.0', 'no'],
      ['unpublish', 'readable@1.0.0'],
    ]
    for (const npm of npms)
      for (const args of refused) {
        const said = await reader.fails(npm, folder, ...args)
        assert.match(said, /E?403/, said)
        assert.match(said, /This needs /, said)
      }
    const before = await document('readable')
    assert.deepEqual([Object.keys(before.versions), before['dist-tags']], [['1.0.0', '1.1.0'], { latest: '1.1.0' }])
    await reader[Symbol.asyncDispose]()
  })

  test('view and search find what there is', async () => {
    await publish('@acme/needle', '1.2.3')
    assert.equal(await run('view', '@acme/needle', 'version'), '1.2.3')
    for (const npm of npms) {
      const [found] = JSON.parse(await desk.run(npm, desk.home, 'search', 'needle', '--json'))
      assert.equal(found.name, '@acme/needle')
      assert.equal(found.version, '1.2.3')
      assert.deepEqual(JSON.parse(await desk.run(npm, desk.home, 'search', 'nothing-like-it', '--json')), [])
    }
  })

  test('audit says that nothing was looked up', async () => {
    await publish('audited', '1.0.0')
    const folder = await desk.folder('audit', { 'package.json': { name: 'audit', version: '1.0.0', private: true } })
    for (const npm of npms) {
      await desk.run(npm, folder, 'install', 'audited')
      const told = await desk.run(npm, folder, 'audit', '--json')
      assert.equal(JSON.parse(told).metadata.vulnerabilities.total, 0)
    }
    await desk.run(
      'pnpm',
      await desk.folder('audit-pnpm', { 'package.json': { name: 'a', private: true } }),
      'add',
      'audited',
    )
    await desk.run('pnpm', join(desk.home, 'audit-pnpm'), 'audit')
    await site.told({ path: '/npm/releases/-/npm/v1/security/audits/quick', json: {} }, 404)
  })

  test('access: a package is private, whoever asks, and is made nothing else', async () => {
    await publish('@acme/secret', '1.0.0')
    const { username } = (await site.told({ path: '/npm/releases/-/whoami', credential: key }, 200)).json
    for (const npm of npms) {
      assert.match(await desk.run(npm, desk.home, 'access', 'get', 'status', '@acme/secret'), /private/)
      const told = JSON.parse(
        await desk.run(npm, desk.home, 'access', 'list', 'collaborators', '@acme/secret', '--json'),
      )
      assert.deepEqual(told, { [username]: 'read-write' })
      await desk.run(npm, desk.home, 'access', 'set', 'status=private', '@acme/secret')
      const refused = await desk.fails(npm, desk.home, 'access', 'set', 'status=public', '@acme/secret')
      assert.match(refused, /403[\s\S]*whoever may read the repository/)
    }
  })

  test('owner and star change a package and lose nothing of it', async () => {
    await publish('owned', '1.0.0')
    const carl = await account('carl')
    const group = (await site.told({ path: '/api/v1/access-groups', json: { name: 'packagers' } }, 201)).json.id
    const path = `/api/v1/access-groups/${group}`
    await site.told({ method: 'PUT', path: `${path}/members/${carl}` }, 204)
    await site.told({ method: 'PUT', path: `${path}/grants/releases`, json: { access: 'write' } }, 204)
    await run('owner', 'add', 'carl', 'owned')
    assert.match(await run('owner', 'ls', 'owned'), /carl/)
    await run('owner', 'rm', 'carl', 'owned')
    assert.doesNotMatch(await run('owner', 'ls', 'owned'), /carl/)
    await run('star', 'owned')
    assert.deepEqual(Object.keys((await document('owned')).versions), ['1.0.0'])
  })

  test('a package of 500 MB goes to disk while it is parsed, and comes back as it was', async (t) => {
    const { program, dataDir } = site.service
    const manifest = { name: 'large', version: '1.0.0' }
    // What a publish takes is there, whatever the size, before it is looked at.
    await publish('small-before', '1.0.0')
    const before = peakMiBOf(program)
    const bytes = 500_000_000
    const { pieces, integrity } = largeDocument(manifest, bytes)
    const onDisk: number[] = []
    const watched = async function* (): AsyncGenerator<Buffer> {
      let sent = 0
      for await (const piece of pieces) {
        yield piece
        sent += piece.byteLength
        if (sent > bytes && onDisk.length === 0) onDisk.push(await bytesIn(join(dataDir, 'staging')))
      }
    }
    await site.told({ method: 'PUT', path: '/npm/releases/large', body: Readable.from(watched()) }, 201)
    const most = peakMiBOf(program)
    t.diagnostic(`memory: ${before.toFixed(0)} MiB before, at most ${most.toFixed(0)} MiB; on disk ${onDisk}`)
    assert.ok(most < 250, `${most} MiB`)
    assert.ok((onDisk[0] ?? 0) > bytes / 2, `${onDisk} bytes were on disk when ${bytes} had been sent`)
    const { dist } = (await document('large')).versions['1.0.0']
    assert.equal(dist.integrity, integrity())
    const got = await fetch(dist.tarball, { headers: { authorization: `Bearer ${key}` } })
    const sha512 = createHash('sha512')
    for await (const piece of got.body ?? []) sha512.update(piece)
    assert.equal(`sha512-${sha512.digest('base64')}`, dist.integrity)
    assert.ok(peakMiBOf(program) < 250, `${peakMiBOf(program)} MiB`)
    await run('unpublish', 'large', '--force')
  })

  test('leave a store in which the doctor finds nothing', async () => {
    assert.deepEqual((await askDoctor(site.service.settings)).damage, [])
  })
})
