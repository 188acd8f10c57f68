import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, unlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import {
  blobFile,
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  type Program,
  root,
  runSvc,
  settingsFor,
  startSvc,
  storedIn,
} from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

const raw = '/api/v1/repositories/releases/raw'

describe('the command line', { timeout: 240_000 }, () => {
  let folder: string
  let dataDir: string
  let settings: Environment
  const programs: Program[] = []

  const startWith = (more: Environment, ...args: string[]): Program => {
    const program = startSvc(args, { ...settings, ...more })
    programs.push(program)
    return program
  }
  const start = (...args: string[]): Program => startWith({}, ...args)
  const stop = async (program: Program): Promise<void> => {
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null }, program.stderr())
  }
  /** Runs a command that must do its work; answers what it prints. */
  const svc = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runSvc(args, settings)
    assert.equal(code, 0, `${args.join(' ')}\n${stdout}${stderr}`)
    assert.equal(stderr, '')
    return stdout
  }
  /** Runs a command that must refuse: exit code 1 and one sentence, which is answered. */
  const refused = async (args: string[], more: Environment = {}): Promise<string> => {
    const { code, stdout, stderr } = await runSvc(args, { ...settings, ...more })
    assert.equal(code, 1, `${args.join(' ')}\n${stdout}${stderr}`)
    assert.equal(stdout, '')
    assert.match(stderr, /^svc: [^\n]+\n$/)
    return stderr.trim().slice('svc: '.length)
  }
  const credential = (): string => keyIn(dataDir, 'bootstrap-token.txt')
  const put = async (address: string, path: string, body: string): Promise<void> => {
    const told = await ask(address, { method: 'PUT', path: `${raw}/${path}`, credential: credential(), body })
    assert.equal(told.status, 201, told.text)
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-commands-'))
    dataDir = join(folder, 'data')
    settings = settingsFor({ dataDir }, inTheStore)
  })
  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.child.kill('SIGKILL')
      await program.ended
    }
    await rm(folder, { recursive: true, force: true })
  })

  test('up and serve --role api take everything; serve --role reader takes GET and HEAD only; whoever listens for others is told to set SVC_BASE_URL', async () => {
    const api = start('serve', '--role', 'api')
    const apiAddress = await listening(api)
    await put(apiAddress, 'a/file', 'served by all')
    // Nobody else gets there, but it is not the address that loopback has in IPv6.
    const forOthers = { SVC_LISTEN: '[::ffff:127.0.0.1]:0' }
    const plain = startWith(forOthers, 'serve')
    const reader = startWith({ ...forOthers, SVC_BASE_URL: 'https://files.example.org' }, 'serve', '--role', 'reader')
    const up = start('up')
    for (const program of [plain, reader, up]) {
      const address = await listening(program)
      const told = await ask(address, { path: `${raw}/a/file`, credential: credential() })
      assert.equal(told.text, 'served by all')
      const head = await ask(address, { method: 'HEAD', path: `${raw}/a/file`, credential: credential() })
      assert.equal(head.headers['content-length'], '13')
      const ready = await ask(address, { path: '/health/ready', credential: credential() })
      assert.equal(ready.json.role, program === reader ? 'reader' : 'api')
    }
    await put(await listening(plain), 'by/plain', 'x')
    await put(await listening(up), 'by/up', 'x')
    const address = await listening(reader)
    for (const method of ['PUT', 'DELETE']) {
      const told = await ask(address, { method, path: `${raw}/by/reader`, credential: credential(), body: 'x' })
      assert.equal(told.status, 405, told.text)
    }
    const fetched = await ask(address, { path: `${raw}/by/reader`, credential: credential() })
    assert.equal(fetched.status, 404)
    assert.doesNotMatch(reader.stdout(), /curl/, 'a reader cannot create an owner, so it does not tell people to')
    for (const [program, status, warns] of [
      [plain, 200, true],
      [reader, 200, false],
      [up, 400, false],
    ] as const) {
      const headers = { host: 'files.example.org' }
      assert.equal((await ask(await listening(program), { path: '/health/live', headers })).status, status)
      const warning = 'SVC_BASE_URL is not set: addresses in answers are made from the Host that each client sends'
      assert.equal(program.stderr().includes(warning), warns)
    }
    await Promise.all([api, plain, reader, up].map(stop))
  })

  test('worker does the upkeep, listens nowhere, and stops when told to', async () => {
    const worker = start('worker')
    await until('it runs', () => {
      assert.equal(worker.child.exitCode, null, worker.stderr())
      return worker.stdout().includes('svc is running the upkeep\n')
    })
    assert.doesNotMatch(worker.stdout(), /listens/)
    assert.equal(existsSync(join(dataDir, 'config')), false, 'it needs no keys, so it makes none')
    await stop(worker)
  })

  test('settings names every setting, its value and where it comes from, and hides the password', async () => {
    const given = {
      SVC_DATABASE_URL: 'postgres://svc:very-secret@db.example.org/svc',
      SVC_MAX_OBJECT_BYTES: '4711',
      SVC_LISTEN: '',
    }
    const { code, stdout, stderr } = await runSvc(['settings'], { ...settings, ...given })
    assert.equal(code, 0, stderr)
    const value = (name: string): string | undefined => new RegExp(`^${name} +(\\S+ +\\S+) `, 'm').exec(stdout)?.[1]
    assert.match(value('SVC_DATABASE_URL') ?? '', /^postgres:\/\/svc:…@db\.example\.org\/svc +environment$/)
    assert.match(value('SVC_MAX_OBJECT_BYTES') ?? '', /^4711 +environment$/)
    assert.equal(value('SVC_DATA_DIR')?.split(' ')[0], dataDir)
    assert.match(value('SVC_LISTEN') ?? '', /^127\.0\.0\.1:8080 +default$/)
    assert.doesNotMatch(stdout, /very-secret/)
    const names = [...stdout.matchAll(/^(SVC_[A-Z_]+) +\S.+$/gm)].map((match) => match[1])
    const page = readFileSync(join(root, 'docs', 'reference', 'settings.md'), 'utf8')
    const documented = [...page.matchAll(/^\| `?(SVC_[A-Z_]+)/gm)].map((match) => match[1])
    assert.ok(documented.length > 15)
    assert.deepEqual(names, documented)
    assert.equal(existsSync(dataDir), false, 'looking at settings makes nothing')
  })

  test('settings hides a password wherever an address may have one', async () => {
    for (const url of [
      'postgres://svc:p@ss:very-secret/x@db.example.org/svc',
      'postgres://db.example.org/svc?user=svc&password=very-secret',
      'mysql://svc:very-secret@db.example.org/svc',
    ]) {
      const { stdout, stderr } = await runSvc(['settings'], { ...settings, SVC_DATABASE_URL: url })
      assert.doesNotMatch(stdout + stderr, /very-secret/)
    }
    // They do not belong there, and are refused; still somebody may try.
    const misplaced = { ...settings, SVC_BLOB_STORE: 's3://key:very-secret@bucket/files' }
    const told = await runSvc(['settings'], misplaced)
    assert.equal(told.code, 1)
    assert.doesNotMatch(told.stdout + told.stderr, /very-secret/)
  })

  test('repository create, list and delete do their work, beside a running service too', async () => {
    const up = start('up')
    const address = await listening(up)
    assert.match(await svc('repository', 'create', 'apps'), /^Created apps\..+\n$/)
    await put(address, 'one', '12345')
    await svc('repository', 'create', 'tools')
    const told = await ask(address, { path: '/api/v1/repositories', credential: credential(), json: { id: 'tools' } })
    assert.deepEqual([told.status, told.json.code], [409, 'already_exists'], 'the service knows what the command made')
    assert.equal(
      await svc('repository', 'list'),
      [
        'apps\tpublished 0\tpending 0\tretired 0',
        'releases\tpublished 5\tpending 0\tretired 0',
        'tools\tpublished 0\tpending 0\tretired 0',
        '',
      ].join('\n'),
    )
    assert.equal(await svc('repository', 'delete', 'tools'), 'Deleted tools.\n')
    assert.doesNotMatch(await svc('repository', 'list'), /tools/)
    await stop(up)
    assert.match(await svc('repository', 'list'), /^releases\tpublished 5/m)
  })

  test('repository quota limits what a repository may reserve, beside a running service too', async () => {
    const up = start('up')
    const address = await listening(up)
    await put(address, 'one', '12345')
    assert.equal(await svc('repository', 'quota', 'releases', '8'), 'releases may reserve 8 bytes.\n')
    const path = '/api/v1/repositories/releases/raw/two'
    const send = (body: string) => ask(address, { method: 'PUT', path, credential: credential(), body })
    const over = await send('1234')
    assert.deepEqual([over.status, over.json.code], [507, 'storage_quota'], over.text)
    assert.equal((await send('123')).status, 201)
    assert.equal(await svc('repository', 'quota', 'releases', 'none'), 'releases has no quota.\n')
    assert.equal((await send('123456')).status, 201)
    await stop(up)
    for (const quota of ['-1', '1.5', '1k', '', '12345678901234567'])
      assert.match(
        await refused(['repository', 'quota', '--', 'releases', quota]),
        /must be a count of bytes up to \d+, or none/,
        quota,
      )
    assert.match(await refused(['repository', 'quota', 'nowhere', '8']), /no such repository/i)
  })
  test('repository says in one sentence why it refuses, and changes nothing', async () => {
    const up = start('up')
    await put(await listening(up), 'one', '12345')
    await stop(up)
    const before = await svc('repository', 'list')
    assert.match(await refused(['repository', 'create', 'releases']), /"releases" exists/)
    assert.match(
      await refused(['repository', 'delete', 'releases']),
      /^Files are stored or being uploaded there\. Delete them first/,
    )
    assert.match(await refused(['repository', 'delete', 'nowhere']), /no such repository/i)
    for (const id of ['Bad', '-x', '../x', 'a'.repeat(65), '']) {
      assert.match(await refused(['repository', 'create', '--', id]), /must be 1 to 64 lowercase letters/)
    }
    assert.match(await refused(['repository', 'delete', 'Bad']), /must be 1 to 64 lowercase letters/)
    assert.equal(await svc('repository', 'list'), before)
  })

  test('doctor finds a store in order, running or stopped; names a blob that is gone and one that nobody knows', async () => {
    const up = start('up')
    const address = await listening(up)
    await put(address, 'one', 'the first')
    await put(address, 'two', 'the second')
    assert.match(await svc('doctor'), /Everything is in order\.\n$/)
    await stop(up)
    assert.equal(await svc('doctor'), 'Everything is in order.\n')

    const doctor = async (): Promise<string> => {
      const { code, stdout, stderr } = await runSvc(['doctor'], settings)
      assert.equal(code, 1, stdout + stderr)
      return stdout
    }
    const stray = 'ab'.repeat(32)
    await writeFile(join(dataDir, 'blobs', 'ab', stray), 'nobody put this here')
    const kept = new RegExp(`^quarantine: .*${stray}.*\nEverything is in order\\.\n$`)
    assert.match(await svc('doctor'), kept)
    assert.match(await svc('doctor', '--repair'), kept)
    assert.match(
      await svc('quarantine'),
      new RegExp(`^${stray}  20 bytes, since .*\n1 files with 20 bytes are in quarantine\\.\n$`),
    )
    assert.match(await svc('quarantine', '--remove-after', '1'), /^0 files were given up/)
    assert.ok(storedIn(dataDir).includes(stray))
    await unlink(join(dataDir, 'blobs', 'ab', stray))
    assert.match(await svc('quarantine'), /^0 files/)
    assert.match(await svc('scrub'), /^2 files with 19 bytes were read; 0 have changed\.\n$/)

    const [gone = '', other = ''] = storedIn(dataDir)
    const path = blobFile(dataDir, gone)
    await unlink(path)
    const missing = await doctor()
    assert.match(missing, new RegExp(`^damage: .*${gone}.*\n1 things? (?:is|are) damaged\\.\n$`))
    assert.ok(!missing.includes(other))

    await writeFile(path, 'too long by far to be either of the two')
    assert.match(await doctor(), new RegExp(`^damage: .*${gone}.*39 bytes`))
    const rotten = await runSvc(['scrub', '--rate', '1'], settings)
    assert.deepEqual([rotten.code, rotten.stdout.includes(`damage: blob ${gone}: it has 39 bytes`)], [1, true])
  })

  test('blobs moves small files into the database and out of it, beside a service or without one', async () => {
    const up = start('up')
    const address = await listening(up)
    await put(address, 'one', 'the first')
    await put(address, 'large', 'x'.repeat(20_000))
    await put(address, 'two', 'the second')
    const moved = (files: number, bytes: number, way: string, most: number): string =>
      `${files} files with ${bytes} bytes were moved ${way} the database.\n${
        most === 0
          ? 'None belong there: SVC_INLINE_BYTES is 0.'
          : `Those of up to ${most} bytes belong there (SVC_INLINE_BYTES).`
      }\n`
    const blobs = async (way: string, ...settled: [Environment, ...string[]]): Promise<string> => {
      const [more, ...options] = settled
      const { code, stdout, stderr } = await runSvc(['blobs', way, ...options], { ...settings, ...more })
      assert.equal(code, 0, stderr)
      return stdout
    }
    assert.equal(await blobs('inline', inTheStore), moved(0, 0, 'into', 0))
    assert.equal(await blobs('inline', inTheDatabase, '--rate', '10000'), moved(2, 19, 'into', 16_384))
    for (const [path, body] of [
      ['one', 'the first'],
      ['two', 'the second'],
    ]) {
      const told = await ask(address, { path: `${raw}/${path}`, credential: credential() })
      assert.deepEqual([told.status, told.text], [200, body])
    }
    await stop(up)
    assert.equal(await blobs('outline', inTheDatabase), moved(0, 0, 'out of', 16_384))
    assert.equal(await blobs('outline', inTheStore), moved(2, 19, 'out of', 0))
    assert.match(await svc('doctor'), /Everything is in order\.\n$/)
    assert.match(await svc('scrub'), /^3 files with 20019 bytes were read; 0 have changed\.\n$/)
  })

  test('wrong settings are all named at once, a sentence each, and nothing is made', async () => {
    const wrong: Environment = {
      SVC_LISTEN: 'nowhere',
      SVC_BASE_URL: 'files.example.org/path',
      SVC_DATABASE_URL: 'mysql://svc:very-secret@db.example.org/svc',
      SVC_BLOB_STORE: 'gs://bucket',
      SVC_ALLOW_REGISTRATION: 'maybe',
      SVC_CORS_ORIGINS: 'https://a.example.org,*',
      SVC_MAX_OBJECT_BYTES: '-1',
      SVC_CAPACITY_BYTES: '1.5',
      SVC_CLEANUP_GRACE_HOURS: 'a day',
      SVC_FREE_SPACE_RESERVE_BYTES: '1 Gig',
      SVC_UPLOAD_DEADLINE_SECONDS: '0',
      SVC_TRUSTED_PROXIES: '10.0.0.0/99',
      SVC_LOG_LEVEL: 'loud',
    }
    for (const args of [['up'], ['worker'], ['doctor']]) {
      const { code, stdout, stderr } = await runSvc(args, { ...settings, ...wrong })
      assert.equal(code, 1)
      assert.equal(stdout, '')
      const lines = stderr.trimEnd().split('\n')
      assert.deepEqual(
        lines.map((line) => /^svc: (SVC_[A-Z_]+): \S.*\S$/.exec(line)?.[1]).sort(),
        Object.keys(wrong).sort(),
        stderr,
      )
      assert.doesNotMatch(stderr, /very-secret/)
      assert.equal(existsSync(dataDir), false, args.join(' '))
    }
    const shown = await runSvc(['settings'], { ...settings, ...wrong })
    assert.equal(shown.code, 1)
    assert.equal(shown.stderr.trimEnd().split('\n').length, Object.keys(wrong).length)
  })

  test('a keys file that is named and not there, or not one, is refused before anything is made', async () => {
    const file = join(folder, 'my-keys.json')
    assert.match(await refused(['up'], { SVC_KEYS_FILE: file }), /SVC_KEYS_FILE: .*my-keys\.json does not exist/)
    await writeFile(file, '{"keys": [')
    assert.match(await refused(['up'], { SVC_KEYS_FILE: file }), /my-keys\.json is not JSON/)
    await writeFile(file, '{"keys": [{"id": "x"}]}')
    assert.match(await refused(['up'], { SVC_KEYS_FILE: file }), /my-keys\.json is not a keys file/)
    assert.equal(existsSync(dataDir), false)
  })

  test('a folder where no store is, is not taken for an empty one', async () => {
    for (const args of [['doctor'], ['repository', 'list'], ['repository', 'create', 'apps']])
      assert.ok((await refused(args)).includes(join(dataDir, 'svc.db')))
    assert.equal(existsSync(dataDir), false)
  })

  test('a data directory that cannot be one is said in one sentence that names it', async () => {
    await writeFile(dataDir, 'I am a file')
    for (const args of [['up'], ['doctor']]) assert.ok((await refused(args)).includes(dataDir))
  })

  test('what is no command, no role and no argument is refused with help', async () => {
    for (const [args, what] of [
      [['upp'], /unknown command 'upp'/],
      [['serve', '--role', 'writer'], /'writer' is invalid.*api, reader/s],
      [['up', '--fast'], /unknown option '--fast'/],
      [['up', 'now'], /too many arguments/],
      [['repository', 'create'], /missing required argument 'id'/],
      [['repository', 'rename'], /unknown command 'rename'/],
    ] as const) {
      const { code, stdout, stderr } = await runSvc(args, settings)
      assert.equal(code, 1, args.join(' '))
      assert.match(stderr, what)
      assert.match(stderr, /Usage: svc/)
      assert.equal(stdout, '')
    }
    assert.equal(existsSync(dataDir), false)
  })

  test('a setting that does not exist is warned about, and the service runs', async () => {
    settings = { ...settings, SVC_LISTEM: '127.0.0.1:1' }
    const up = start('up')
    await listening(up)
    assert.match(up.stderr(), /SVC_LISTEM is no setting of svc/)
    await stop(up)
  })

  test('a port in use is said in one sentence that names it', async () => {
    const up = start('up')
    const { host } = new URL(await listening(up))
    const other = join(folder, 'other')
    const sentence = await refused(['up'], { SVC_LISTEN: host, SVC_DATA_DIR: other })
    assert.ok(sentence.includes(host), sentence)
    assert.match(sentence, /another program listens there/)
    await stop(up)
  })

  test('a PostgreSQL that nobody runs, or that never answers, ends a start with one sentence', async () => {
    const sockets = new Set<Socket>()
    const mute = createServer((socket) => void sockets.add(socket.on('error', () => {})))
    await once(mute.listen(0, '127.0.0.1'), 'listening')
    try {
      for (const port of [1, (mute.address() as AddressInfo).port]) {
        const url = `postgres://svc:very-secret@127.0.0.1:${port}/svc`
        const begun = performance.now()
        const sentence = await refused(['up'], { SVC_DATABASE_URL: url })
        assert.match(sentence, /database/i)
        assert.doesNotMatch(sentence, /very-secret/)
        const seconds = (performance.now() - begun) / 1000
        assert.ok(seconds < 20, `it took ${seconds} s to give up`)
      }
    } finally {
      for (const socket of sockets) socket.destroy()
      await new Promise((closed) => mute.close(closed))
    }
  })

  test('a database of a newer schema is refused in words and left alone', async () => {
    const up = start('up')
    await listening(up)
    await stop(up)
    const open = (): DatabaseSync => new DatabaseSync(join(dataDir, 'svc.db'))
    const rows = (): unknown => {
      const database = open()
      try {
        return database.prepare('select * from schema_migrations order by number').all()
      } finally {
        database.close()
      }
    }
    const database = open()
    database.exec("insert into schema_migrations (number, name) values (9999, 'from the future')")
    database.close()
    const before = rows()
    for (const args of [['up'], ['doctor']])
      assert.match(await refused(args), /has schema 9999, .*Start a newer version of svc\./)
    assert.deepEqual(rows(), before)
  })

  test('a file that is no database is refused in one sentence', async () => {
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'svc.db'), 'this is a text, and a long one at that. '.repeat(200))
    assert.match(await refused(['up']), /database/)
  })
})
