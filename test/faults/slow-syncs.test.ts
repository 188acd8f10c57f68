import assert from 'node:assert/strict'
import { hash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { fileSyncsAtOnce, largeFileSyncsAtOnce } from '../../src/kernel/limits/engines.ts'
import { ask, closeConnections } from '../harness/client.ts'
import { makeDiskFaults } from '../harness/disk-faults.ts'
import { forEachEngine } from '../harness/engines.ts'
import { createOwner, password } from '../harness/people.ts'
import { endProgramsAfterTests, keyIn, listening, type Program, settingsFor, startSvc } from '../harness/processes.ts'
import { until } from '../harness/until.ts'

endProgramsAfterTests()
after(closeConnections)

/** More than would fit into a pool of Node's usual size, and more than are let begin. */
const uploads = 16

/** A disk that takes long to sync keeps those waiting who asked for it, and nobody else. */
forEachEngine((engine) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-data-'))
  const disk = makeDiskFaults()
  let program: Program
  let url = ''
  let token = ''
  const base = '/api/v1/repositories/releases/raw'
  const put = (path: string, body: string) =>
    ask(url, { method: 'PUT', path: `${base}/${path}`, credential: token, body })
  before(async () => {
    const place = { dataDir, databaseUrl: await engine.freshDatabaseUrl() }
    program = startSvc(['up'], settingsFor(place, disk.environment))
    url = await listening(program)
    const recoveryKey = keyIn(dataDir, 'bootstrap-token.txt')
    const service = { recoveryKey, ask: (asked: Parameters<typeof ask>[1]) => ask(url, asked) }
    token = (await createOwner(service)).token
  })
  after(async () => {
    disk.close()
    program.child.kill('SIGKILL')
    await program.ended
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('answers from memory and from disk, signs in and commits while syncs of files are held', async () => {
    for (const name of ['warm', 'cold']) assert.equal((await put(name, `${name} bytes`)).status, 201)
    const get = (path: string) => ask(url, { path: `${base}/${path}`, credential: token })
    assert.equal((await get('warm')).text, 'warm bytes')
    const held = disk.rule({ call: 'fdatasync', path: '/staging/', action: 'hold' })
    const sent = Array.from({ length: uploads }, (_, index) => put(`held-${index}`, `bytes ${index}`))
    await held.met(fileSyncsAtOnce)
    try {
      assert.equal((await get('warm')).text, 'warm bytes')
      assert.equal((await get('cold')).text, 'cold bytes')
      const json = { name: 'owner', password }
      assert.equal((await ask(url, { path: '/api/v1/auth/login', json })).status, 200)
      const group = { path: '/api/v1/access-groups', json: { name: 'made-meanwhile' }, credential: token }
      assert.equal((await ask(url, group)).status, 201)
      // No more than may are with the disk, and none is through: all of that was meanwhile.
      assert.equal(held.hits().length, fileSyncsAtOnce)
      assert.equal(held.done(), 0)
    } finally {
      held.end()
    }
    for (const told of await Promise.all(sent)) assert.equal(told.status, 201, told.text)
  })

  it('stores small files while all syncs of large ones that are let begin are held', async () => {
    const bytes = randomBytes(1024 * 1024)
    const sha256 = hash('sha256', bytes)
    // Only the file of an upload in parts bears the number of the process, while a part is written.
    const held = disk.rule({ call: 'fdatasync', path: `.${program.pid}.`, action: 'hold' })
    const part = async (index: number) => {
      const opened = await ask(url, {
        path: '/api/v1/repositories/releases/uploads',
        json: { name: `large-${index}`, size: String(bytes.byteLength), sha256 },
        headers: { 'idempotency-key': randomUUID() },
        credential: token,
      })
      assert.equal(opened.status, 201, opened.text)
      const path = `${opened.headers.location}/parts/0`
      const headers = { 'content-type': 'application/octet-stream', 'x-content-sha256': sha256 }
      return ask(url, { method: 'PUT', path, headers, credential: token, body: bytes })
    }
    const sent = Promise.all(Array.from({ length: uploads }, (_, index) => part(index)))
    // Where the test fails before it looks at them.
    sent.catch(() => {})
    try {
      await held.met(largeFileSyncsAtOnce)
      let stored = 0
      for (let index = 0; index < uploads; index++)
        put(`small-${index}`, `a few bytes ${index}`).then(
          ({ status }) => {
            if (status === 201) stored += 1
          },
          () => {},
        )
      await until('small files are stored', () => stored === uploads)
      assert.equal(held.hits().length, largeFileSyncsAtOnce)
      assert.equal(held.done(), 0)
    } finally {
      held.end()
    }
    for (const told of await sent) assert.equal(told.status, 204, told.text)
  })
})
