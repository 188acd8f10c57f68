import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import {
  type Environment,
  endProgramsAfterTests,
  keyIn,
  listening,
  ownService,
  type Program,
  root,
  runProgram,
  runSvc,
  settingsFor,
  startProgram,
  startSvc,
} from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

/** A command as a person would paste it; answers what it prints. Fails when any part of it does. */
const paste = async (script: string, environment: Environment = {}): Promise<string> => {
  const { code, stdout, stderr } = await runProgram('bash', ['-euo', 'pipefail', '-c', script], environment)
  assert.equal(code, 0, `${script}\n${stdout}${stderr}`)
  return stdout
}

const printedCommands = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.trim())

const stop = async (program: Program): Promise<void> => {
  program.child.kill('SIGTERM')
  assert.deepEqual(await program.ended, { code: 0, signal: null }, program.stderr())
}

const signIn = async (address: string, password: string): Promise<string> => {
  const told = await ask(address, { path: '/api/v1/auth/login', json: { name: 'owner', password } })
  assert.equal(told.status, 200, told.text)
  assert.equal(told.json.account.administrator, true)
  return told.json.token
}

/** What the first owner may do, found out by doing it. */
const isOwnerOfReleases = async (address: string, password: string): Promise<void> => {
  const credential = await signIn(address, password)
  const users = await ask(address, { path: '/api/v1/users', credential })
  assert.equal(users.status, 200, users.text)
  const path = '/api/v1/repositories/releases/raw/by/the/owner.bin'
  const stored = await ask(address, { method: 'PUT', path, credential, body: 'bytes of the owner' })
  assert.equal(stored.status, 201, stored.text)
  assert.equal((await ask(address, { path, credential })).text, 'bytes of the owner')
}

const config = (dataDir: string): Map<string, string> =>
  new Map(
    readdirSync(join(dataDir, 'config'))
      .sort()
      .map((name) => [name, readFileSync(join(dataDir, 'config', name), 'utf8')]),
  )

const keyFiles = ['bootstrap-token.txt', 'health-token.txt', 'keys.json']

const isRefused = async (address: string): Promise<boolean> => {
  const { hostname, port } = new URL(address)
  const socket = createConnection(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}

describe('the first start', { timeout: 60_000 }, () => {
  let folder: string
  let dataDir: string
  const programs: Program[] = []
  const up = (more = {}): Program => {
    const program = startSvc(['up'], settingsFor({ dataDir }, more))
    programs.push(program)
    return program
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-first-'))
    dataDir = join(folder, 'it is my data')
  })
  afterEach(async () => {
    for (const program of programs.splice(0)) {
      program.child.kill('SIGKILL')
      await program.ended
    }
    await rm(folder, { recursive: true, force: true })
  })

  test('prints an address, where the recovery key is, and three commands that work as they stand', async () => {
    const program = up()
    const address = await listening(program)
    const text = await until('all is printed', () => printedCommands(program.stdout()).length >= 3 && program.stdout())
    assert.ok(text.includes(`The recovery key is in ${join(dataDir, 'config', 'bootstrap-token.txt')}\n`), text)
    const [createOwner, store, fetchIt, ...more] = printedCommands(text)
    assert.ok(createOwner !== undefined && store !== undefined && fetchIt !== undefined, text)
    assert.deepEqual(more, [])

    const said = await paste(`{ ${createOwner}; } 2>&1`)
    const [made = '', password = ''] = said.split('The password of owner: ').map((part) => part.trim())
    const owner = JSON.parse(made)
    assert.equal(owner.name, 'owner')
    assert.equal(owner.administrator, true)
    assert.match(password, /^[A-Za-z0-9+/]{24}$/)
    assert.ok(!program.stdout().includes(password), 'a password was printed before anybody was there')
    await paste(store)
    assert.equal(await paste(fetchIt), 'Hello, world\n')
    await isOwnerOfReleases(address, password)
    assert.ok(!text.includes(keyIn(dataDir, 'bootstrap-token.txt')), 'the recovery key itself is on the screen')
    await stop(program)
  })

  test('makes keys that only their owner may read, and a keys file without a secret', async () => {
    const program = up()
    const address = await listening(program)
    assert.deepEqual([...config(dataDir).keys()], keyFiles)
    for (const name of keyFiles) assert.equal(statSync(join(dataDir, 'config', name)).mode & 0o777, 0o600, name)
    assert.equal(statSync(join(dataDir, 'config')).mode & 0o777, 0o700)
    const recovery = keyIn(dataDir, 'bootstrap-token.txt')
    const health = keyIn(dataDir, 'health-token.txt')
    assert.notEqual(recovery, health)
    const keys = config(dataDir).get('keys.json') ?? ''
    for (const secret of [recovery, health]) {
      assert.match(secret, /^[0-9a-f]{64}$/)
      assert.ok(!keys.includes(secret), 'keys.json holds a secret')
    }
    const metrics = await ask(address, { path: '/health/metrics', credential: health })
    assert.equal(metrics.status, 200, metrics.text)
    const users = await ask(address, { path: '/api/v1/users', credential: health })
    assert.equal(users.status, 403, users.text)
    await stop(program)
    const said = program.stdout() + program.stderr()
    for (const secret of [recovery, health]) assert.ok(!said.includes(secret), 'a secret was printed')
  })

  test('is the only one that prints commands and makes keys, once there is an owner', async () => {
    const first = up()
    await listening(first)
    const text = await until('all is printed', () => printedCommands(first.stdout()).length >= 3 && first.stdout())
    const made = config(dataDir)
    await paste(printedCommands(text)[0] ?? '')
    await stop(first)

    const second = up()
    const address = await listening(second)
    const told = await ask(address, { path: '/api/v1/users', credential: keyIn(dataDir, 'bootstrap-token.txt') })
    assert.equal(told.status, 200, told.text)
    await stop(second)
    assert.deepEqual(printedCommands(second.stdout()), [])
    assert.match(second.stdout(), /^svc \S+ listens on \S+\nThe recovery key is in .+\n$/)
    assert.deepEqual(config(dataDir), made)
  })

  test('prints the commands again while nobody has used them, with the same key', async () => {
    const first = up()
    await listening(first)
    const made = config(dataDir)
    await stop(first)
    const second = up()
    await listening(second)
    await stop(second)
    assert.equal(printedCommands(second.stdout()).length, 3)
    assert.deepEqual(config(dataDir), made)
  })

  test('may happen twice at once on one directory: all end up with the same keys', async () => {
    const starters = [up(), up(), up()]
    const addresses = await Promise.all(starters.map(listening))
    assert.deepEqual([...config(dataDir).keys()], keyFiles)
    const credential = keyIn(dataDir, 'bootstrap-token.txt')
    const health = keyIn(dataDir, 'health-token.txt')
    for (const address of addresses) {
      assert.equal((await ask(address, { path: '/api/v1/users', credential })).status, 200)
      assert.equal((await ask(address, { path: '/health/ready', credential: health })).status, 200)
    }
    const path = '/api/v1/repositories/releases/raw/from/one'
    const [one = '', another = ''] = addresses
    assert.equal((await ask(one, { method: 'PUT', path, credential, body: 'seen by all' })).status, 201)
    assert.equal((await ask(another, { path, credential })).text, 'seen by all')
    await Promise.all(starters.map(stop))
  })

  test('goes on from what a first start left that was killed in between, also under the same process id', async () => {
    const half = ['bootstrap-token.txt', 'health-token.txt', 'keys.json']
      .map((name) => `echo half > "$SVC_DATA_DIR/config/${name}.$$.new"`)
      .join('\n')
    const script = `mkdir -p "$SVC_DATA_DIR/config"\n${half}\nexec "$0" src/main/svc.ts up`
    const program = startProgram('bash', ['-c', script, process.execPath], settingsFor({ dataDir }))
    programs.push(program)
    const address = await listening(program)
    const told = await ask(address, { path: '/api/v1/users', credential: keyIn(dataDir, 'bootstrap-token.txt') })
    assert.equal(told.status, 200, told.text)
    await stop(program)
  })
})

describe('the quick start of the README', { timeout: 60_000 }, () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-readme-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('does what it says, from npm start to the file that comes back; a signal to npm stops the service', async () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const start = readme.slice(readme.indexOf('\n## Start'), readme.indexOf('\n## What it does'))
    const [begin = '', ...blocks] = [...start.matchAll(/```sh\n(.*?)```/gs)].map((block) => block[1] ?? '')
    assert.equal(begin, 'npm ci && npm start\n')
    assert.equal(blocks.length, 4, start)

    const dataDir = join(folder, 'data')
    const npm = startProgram('npm', ['start'], settingsFor({ dataDir }), { group: true })
    const address = await listening(npm)
    const commands = blocks.join('\n')
    assert.ok(commands.includes('data/config/') && commands.includes('http://127.0.0.1:8080'), commands)
    const script = commands.replace('data/config/', `${dataDir}/config/`).replaceAll('http://127.0.0.1:8080', address)
    const printed = await paste(script, settingsFor({ dataDir }, ownService(address)))
    assert.match(printed, /^\{"status":"ready"/)
    assert.ok(printed.includes(readme), 'the file that was stored did not come back')
    assert.match(printed, /^ann may read and write in releases/m)
    assert.match(printed, /^ann +user +write /m)
    assert.match(printed, /^Signed in at .* as ann/m)
    assert.match(printed, /"path":"docs\/LICENSE","revision":1/)
    assert.match(printed, /"path":"docs\/README.md".*"removed":true/)
    const ann = { name: 'ann', password: 'she will choose another' }
    assert.equal((await ask(address, { path: '/api/v1/auth/login', json: ann })).status, 200)
    const settings = settingsFor({ dataDir }, ownService(address))
    assert.equal((await runSvc(start.match(/`svc (user disable ann)`/)?.[1]?.split(' ') ?? [], settings)).code, 0)
    assert.equal((await ask(address, { path: '/api/v1/auth/login', json: ann })).status, 401)
    await isOwnerOfReleases(address, 'choose a long one')

    npm.child.kill('SIGTERM')
    await npm.ended
    await until('the service is gone', () => isRefused(address))
    assert.match(npm.stdout(), /The recovery key is in /)
    assert.ok(existsSync(join(dataDir, 'svc.db')))
  })
})
