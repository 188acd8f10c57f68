import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { endProgramsAfterTests, runSvc, settingsFor } from '../harness/processes.ts'

endProgramsAfterTests()

describe('a service that cannot start', { timeout: 120_000, concurrency: 2 }, () => {
  let folder: string
  const taken = createServer()
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-starting-'))
    await writeFile(join(folder, 'file'), '')
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  })
  after(async () => {
    taken.close()
    await rm(folder, { recursive: true, force: true })
  })
  const port = (): number => {
    const address = taken.address()
    return typeof address === 'object' && address !== null ? address.port : assert.fail('not listening')
  }

  const starts: [what: string, settings: () => Record<string, string>, said: () => string][] = [
    [
      'a port that is taken',
      () => ({ SVC_LISTEN: `127.0.0.1:${port()}` }),
      () => `SVC_LISTEN is 127.0.0.1:${port()}: another program listens there. Stop it, or choose another port.`,
    ],
    [
      'an address of another machine',
      () => ({ SVC_LISTEN: '203.0.113.9:8080' }),
      () => 'SVC_LISTEN is 203.0.113.9:8080: this machine has no such address.',
    ],
    [
      'a database where nothing listens, without its password',
      () => ({ SVC_DATABASE_URL: 'postgres://u:hush@127.0.0.1:1/x' }),
      () =>
        'SVC_DATABASE_URL is postgres://u:…@127.0.0.1:1/x: nothing listens there. Start it, or correct the address.',
    ],
    [
      'a data folder that cannot be made, at once',
      () => ({ SVC_DATA_DIR: '/proc/svc' }),
      () => 'SVC_DATA_DIR is /proc/svc: it does not exist and cannot be made.',
    ],
    [
      'a data folder that is a file',
      () => ({ SVC_DATA_DIR: join(folder, 'file') }),
      () => `SVC_DATA_DIR is ${join(folder, 'file')}: a part of the path is a file. Choose another path.`,
    ],
    [
      'a blob folder that cannot be made',
      () => ({ SVC_BLOB_STORE: 'file:/proc/svc' }),
      () => 'SVC_BLOB_STORE is file:/proc/svc: it does not exist and cannot be made.',
    ],
    [
      'several settings that make no sense',
      () => ({ SVC_CAPACITY_BYTES: '10 Gigs', SVC_LISTEN: 'a:b' }),
      () => 'SVC_CAPACITY_BYTES: "10 Gigs" is no size; write a whole number',
    ],
  ]
  for (const [what, settings, said] of starts)
    test(`names the setting, its value, the reason and a way out: ${what}`, async () => {
      const end = await runSvc(['up'], { ...settingsFor({ dataDir: join(folder, 'data') }), ...settings() })
      assert.equal(end.code, 1, end.stderr)
      assert.ok(end.stderr.includes(said()), end.stderr)
      assert.ok(!end.stderr.includes('hush') && !/\n\s+at /.test(end.stderr), end.stderr)
    })
})

describe('svc settings', () => {
  test('is a table, or one setting, or JSON, or what the environment sets, and warns of names that are none', async () => {
    const settings = { SVC_DATABASE_URL: 'postgres://u:hush@host/db', SVC_CAPACITY_BYTES: '10TB', SVC_LSTEN: ':80' }
    const changed = await runSvc(['settings', '--changed', '--json'], settings)
    assert.deepEqual(
      JSON.parse(changed.stdout).map(({ name, value, from }: Record<string, string>) => [name, value, from]),
      [
        ['SVC_DATABASE_URL', 'postgres://u:…@host/db', 'environment'],
        ['SVC_CAPACITY_BYTES', '10TB', 'environment'],
      ],
    )
    assert.equal(changed.stderr, 'svc: SVC_LSTEN is no setting of svc; did you mean SVC_LISTEN?\n')
    const { stdout } = await runSvc(['settings'], {})
    assert.match(stdout, /^SETTING +VALUE +FROM +MEANING\nSVC_DATA_DIR +\.\/data +default +\S/)
    const one = await runSvc(['settings', 'SVC_LISTEN'], {})
    assert.match(one.stdout, /^SVC_LISTEN = 127\.0\.0\.1:8080 {2}\(default\)\nAddress and port/)
    const none = await runSvc(['settings', 'SVC_LISTN'], {})
    assert.deepEqual([none.code, none.stderr], [1, 'svc: There is no setting SVC_LISTN; did you mean SVC_LISTEN?\n'])
  })
})
