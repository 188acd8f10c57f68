import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../../../test/harness/client.ts'
import { onSqlite } from '../../../test/harness/engines.ts'
import { digestOf, type Inspection, openInspection } from '../../../test/harness/inspection.ts'
import { inTheStore } from '../../../test/harness/kept-inline.ts'
import { blobFile } from '../../../test/harness/processes.ts'
import { startService, type TestService } from '../../../test/harness/service.ts'
import { storageEventPage } from '../../journal/storage-events/storage-events.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { stretchAfter } from '../../kernel/sequence.ts'
import { scrub, tellOfRot } from './scrub.ts'

after(closeConnections)

onSqlite((engine) => {
  describe('scrubbing', () => {
    let service: TestService
    let inspection: Inspection
    const files = Array.from({ length: 5 }, (_, index) => randomBytes(1_000 + index))
    before(async () => {
      service = await startService(engine, {
        onDisk: true,
        settings: inTheStore,
        roles: { gateway: 'api', worker: false },
      })
      inspection = await openInspection(service)
      for (const [index, body] of files.entries()) {
        const path = `/api/v1/repositories/releases/raw/${index}`
        const told = await service.ask({ method: 'PUT', path, credential: service.recoveryKey, body })
        assert.equal(told.status, 201, told.text)
      }
    })
    after(async () => {
      await inspection.close()
      await service.stop()
    })
    const blobPath = (digest: string): string => blobFile(service.dataDir, digest)
    const digests = files.map(digestOf).sort()
    const all = (behind = '', bytesPerSecond = 1e9) =>
      Array.fromAsync(scrub({ database: inspection.database, store: inspection.store, bytesPerSecond }, behind))

    it('reads every stored blob in the order of digests, and can go on behind any', async () => {
      assert.deepEqual(
        (await all()).map(({ digest, rot }) => [digest, rot]),
        digests.map((digest) => [digest, null]),
      )
      assert.deepEqual(
        (await all(digests[2])).map(({ digest }) => digest),
        digests.slice(3),
      )
    })

    it('names what has changed, is shorter, or is gone', async () => {
      const [changed, shorter, gone] = digests.map(blobPath)
      assert.ok(changed !== undefined && shorter !== undefined && gone !== undefined)
      const body = (path: string): Buffer => files.find((file) => path.includes(digestOf(file))) ?? assert.fail()
      const flipped = Buffer.from(body(changed))
      flipped[500] = (flipped[500] ?? 0) ^ 1
      await writeFile(changed, flipped)
      await writeFile(shorter, body(shorter).subarray(1))
      await rm(gone)
      const rot = (await all()).map((each) => each.rot)
      assert.match(rot[0] ?? '', new RegExp(`content has the SHA-256 ${digestOf(flipped)}`))
      assert.match(rot[1] ?? '', /it has \d+ bytes instead of \d+/)
      assert.equal(rot[2], 'its bytes are missing')
      assert.deepEqual(rot.slice(3), [null, null])
      for (const path of [changed, shorter, gone]) await writeFile(path, body(path))
    })

    it('tells the operators of the repository that holds the bytes', async () => {
      const [digest] = digests
      assert.ok(digest !== undefined)
      const { database, clock } = inspection
      const rot = 'its bytes are missing'
      await tellOfRot({ database, clock }, toSha256(digest), rot)
      await tellOfRot({ database, clock }, toSha256(digestOf('nobody has this')), rot)
      const of = { repository: 'releases', level: null }
      const { items } = await storageEventPage(database, of, stretchAfter('asc', undefined))
      assert.deepEqual(
        items.map(({ level, code, details }) => ({ level, code, details })),
        [{ level: 'error', code: 'scrub.damage', details: { sha256: digest, finding: rot } }],
      )
    })

    it('takes its time', async () => {
      const began = performance.now()
      await all('', 10_000)
      assert.ok(performance.now() - began > 300, 'five kilobytes at ten a second')
    })
  })
})
