import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { partBytesMin, uploadLeaseMs } from '../../src/kernel/limits/transfers.ts'
import { closeConnections } from '../harness/client.ts'
import { type DiskFaults, makeDiskFaults } from '../harness/disk-faults.ts'
import { onPostgres } from '../harness/engines.ts'
import { endProgramsAfterTests, stagedIn } from '../harness/processes.ts'
import { startService, type TestService } from '../harness/service.ts'
import { type ServiceApart, startServiceApart } from '../harness/service-apart.ts'
import {
  bytesOf,
  complete,
  type File,
  fetchBytes,
  fileOf,
  openSession,
  partsOf,
  sendPart,
  uploadPlace,
} from './uploads.ts'

/** Writes to the disk that land when the upload has long been somebody else's: two gateways on one directory. */

endProgramsAfterTests()
after(closeConnections)

onPostgres((engine) => {
  let disk: DiskFaults
  let survivor: TestService
  let stalled: ServiceApart
  let files = 0

  before(async () => {
    disk = makeDiskFaults()
    survivor = await startService(engine, { onDisk: true })
    stalled = await startServiceApart(engine, { on: survivor, disk, roles: { gateway: 'api', worker: false } })
  })
  after(async () => {
    disk.close()
    await stalled.stop()
    await survivor.stop()
  })

  const to = (service: { readonly url: string }) => ({ url: service.url, credential: survivor.recoveryKey })

  /** Three parts; the last one is short. */
  const nextFile = (): File => {
    const name = `stalled-${++files}`
    return fileOf(name, Buffer.concat([bytesOf(name, 2 * partBytesMin), bytesOf(`${name} rest`, 100_000)]))
  }

  const sent = async (service: { readonly url: string }, upload: string, file: File, index: number): Promise<void> => {
    const told = await sendPart(to(service), upload, index, partsOf(file)[index] ?? Buffer.alloc(0))
    assert.equal(told.status, 204, told.text)
  }

  const contentOf = (upload: string): Promise<Buffer | null> =>
    fetchBytes(to(survivor), `${upload.replace('/uploads/', '/artifacts/')}/content`)

  for (const lands of ['before the upload is completed', 'after it was published'] as const) {
    it(`a write that hangs in its thread and lands ${lands} changes nothing`, async () => {
      const file = nextFile()
      const upload = uploadPlace(await openSession(to(survivor), file))
      await sent(stalled, upload, file, 0)
      const hanging = disk.rule({ call: 'pwrite', path: '/staging/', thread: 'other', action: 'hold', count: 1 })
      const unanswered = sendPart(to(stalled), upload, 1, Buffer.alloc(partBytesMin, 'other')).catch(() => null)
      await hanging.met()
      stalled.freeze()
      survivor.clock.advance(uploadLeaseMs * 2)
      await sent(survivor, upload, file, 1)
      await sent(survivor, upload, file, 2)
      const landing = async (): Promise<void> => {
        stalled.thaw()
        hanging.end()
        const late = await unanswered
        assert.ok(late === null || late.status >= 400, late?.text ?? '')
        assert.equal(hanging.done(), 1)
      }
      if (lands === 'before the upload is completed') await landing()
      const told = await complete(to(survivor), upload)
      assert.equal(told.status, 200, told.text)
      if (lands === 'after it was published') await landing()
      assert.ok((await contentOf(upload))?.equals(file.bytes), 'other bytes bear the digest')
      assert.deepEqual(stagedIn(survivor.dataDir), [])
    })
  }

  it('a copy that comes late takes nothing away that was answered meanwhile', async () => {
    const slowDisk = makeDiskFaults()
    const slow = await startServiceApart(engine, {
      on: survivor,
      disk: slowDisk,
      roles: { gateway: 'api', worker: false },
    })
    try {
      const file = nextFile()
      const upload = uploadPlace(await openSession(to(survivor), file))
      await sent(survivor, upload, file, 0)
      const second = partsOf(file)[1] ?? Buffer.alloc(0)
      const writing = disk.rule({ call: 'pwrite', path: '/staging/', thread: 'other', action: 'hold', count: 1 })
      const first = sendPart(to(stalled), upload, 1, second).catch(() => null)
      await writing.met()
      stalled.freeze()
      survivor.clock.advance(uploadLeaseMs * 2)
      await slow.advance(survivor.clock.now() - Date.now())
      // Its name on the file is let by; what hangs is the name of its copy.
      const naming = slowDisk.rule({ call: 'any', path: ' -> ', thread: 'other', action: 'hold', letBy: 1, count: 1 })
      const late = sendPart(to(slow), upload, 1, second).catch(() => null)
      await naming.met()
      slow.freeze()
      survivor.clock.advance(uploadLeaseMs * 4)
      await sent(survivor, upload, file, 1)
      await sent(survivor, upload, file, 2)
      naming.end()
      slow.thaw()
      const told = await late
      assert.ok(told === null || told.status >= 400, told?.text ?? '')
      assert.equal(naming.done(), 1)
      const completed = await complete(to(survivor), upload)
      assert.equal(completed.status, 200, completed.text)
      assert.ok((await contentOf(upload))?.equals(file.bytes), 'other bytes bear the digest')
      stalled.thaw()
      writing.end()
      await first
      assert.deepEqual(stagedIn(survivor.dataDir), [])
    } finally {
      slowDisk.close()
      slow.thaw()
      await slow.stop()
    }
  })

  describe('a process that died while it wrote', () => {
    it('leaves a file that is written on as it is, since nothing of it can come late', async () => {
      const file = nextFile()
      const upload = uploadPlace(await openSession(to(survivor), file))
      await sent(stalled, upload, file, 0)
      const hanging = disk.rule({ call: 'pwrite', path: '/staging/', action: 'hold', count: 1 })
      const unanswered = assert.rejects(sendPart(to(stalled), upload, 1, Buffer.alloc(partBytesMin, 'other')))
      await hanging.met()
      await stalled.kill()
      await unanswered
      hanging.end()
      assert.equal(readdirSync(join(survivor.dataDir, 'staging')).length, 2)
      survivor.clock.advance(uploadLeaseMs * 2)
      const fileOfUpload = (): number =>
        statSync(join(survivor.dataDir, 'staging', stagedIn(survivor.dataDir)[0] ?? '')).ino
      const before = fileOfUpload()
      await sent(survivor, upload, file, 1)
      assert.equal(fileOfUpload(), before)
      await sent(survivor, upload, file, 2)
      const told = await complete(to(survivor), upload)
      assert.equal(told.status, 200, told.text)
      assert.ok((await contentOf(upload))?.equals(file.bytes))
      assert.deepEqual(stagedIn(survivor.dataDir), [])
      await stalled.start()
    })
  })
})
