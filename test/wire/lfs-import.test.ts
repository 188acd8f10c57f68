import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { ask, closeConnections } from '../harness/client.ts'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { endProgramsAfterTests, runSvc } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

describe('svc lfs import', { timeout: 120_000 }, () => {
  let service: LoneService
  let folder: string
  /** More than are asked about at once, and one that is large. */
  const objects = [...Array.from({ length: 120 }, (_, at) => Buffer.from(`object ${at}`)), randomBytes(3_000_000)]
  const oidOf = (bytes: Uint8Array): string => hash('sha256', bytes)
  before(async () => {
    service = await startLoneService('lfs-import')
    folder = join(service.folder, 'objects')
    for (const bytes of objects) {
      const oid = oidOf(bytes)
      const place = join(folder, oid.slice(0, 2), oid.slice(2, 4))
      await mkdir(place, { recursive: true })
      await writeFile(join(place, oid), bytes)
    }
    await writeFile(join(folder, 'README'), 'no object')
  })
  after(() => service[Symbol.asyncDispose]())

  const run = async (args: readonly string[], more: Record<string, string> = {}) => {
    const environment = { ...service.settings, SVC_URL: service.address, SVC_TOKEN: service.credential(), ...more }
    return await runSvc(['lfs', 'import', ...args], environment)
  }
  const isThere = async (repository: string): Promise<void> => {
    for (const bytes of [objects[0], objects.at(-1)]) {
      assert.ok(bytes !== undefined)
      const path = `/lfs/${repository}/objects/${oidOf(bytes)}/content`
      const told = await ask(service.address, { path, credential: service.credential() })
      assert.ok(told.bytes.equals(bytes), told.text.slice(0, 200))
    }
  }

  test('takes a folder over, once', async () => {
    const first = await run(['releases', folder])
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^121 imported, 0 were there already, 0 failed$/m)
    await isThere('releases')
    assert.match((await run(['releases', folder])).stdout, /^0 imported, 121 were there already, 0 failed$/m)
  })

  test('tells of a file that is not what it is called, and takes the others', async () => {
    const oid = 'a'.repeat(64)
    const damaged = join(service.folder, 'damaged')
    await mkdir(damaged)
    await writeFile(join(damaged, oid), 'something else')
    await writeFile(join(damaged, oidOf(Buffer.from('fine'))), 'fine')
    const told = await run(['releases', damaged])
    assert.equal(told.code, 1)
    assert.match(told.stdout, new RegExp(`^${oid}: The body's SHA-256 is`, 'm'))
    assert.match(told.stdout, /^1 imported, 0 were there already, 1 failed$/m)
  })

  test('says what it needs', async () => {
    assert.match((await run(['releases', join(service.folder, 'nowhere')])).stderr, /is no folder/)
    assert.match((await run(['nowhere', folder])).stderr, /refuses: There is no such repository/)
  })
})
