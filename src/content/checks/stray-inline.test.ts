import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { closeConnections } from '../../../test/harness/client.ts'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { digestOf, type Inspection, inlineDigests, openInspection } from '../../../test/harness/inspection.ts'
import { inTheDatabase } from '../../../test/harness/kept-inline.ts'
import { startService, type TestService } from '../../../test/harness/service.ts'
import type { Transaction } from '../../database/database.ts'
import { newGeneration } from '../../ports/blob-name.ts'
import { scrub } from './scrub.ts'

after(closeConnections)

const path = '/api/v1/repositories/releases/raw/small'

forEachEngine((engine) => {
  describe('what the doctor says of small files in the database', () => {
    let service: TestService
    let inspection: Inspection
    const body = randomBytes(1000)
    const digest = digestOf(body)
    beforeEach(async () => {
      service = await startService(engine, { settings: inTheDatabase, roles: { gateway: 'api', worker: false } })
      inspection = await openInspection(service)
      const told = await service.ask({ method: 'PUT', path, credential: service.recoveryKey, body })
      assert.equal(told.status, 201, told.text)
      assert.deepEqual(await inlineDigests(inspection.database.reader), [digest])
      await inspection.inOrder()
    })
    afterEach(async () => {
      await inspection.close()
      await service.stop()
    })

    const tamper = (work: (tx: Transaction) => Promise<unknown>): Promise<unknown> =>
      inspection.database.transaction(work)
    const damage = async (): Promise<string[]> => (await inspection.findings()).damage
    const served = async (): Promise<boolean> => {
      // A process of its own: another has the bytes in its memory.
      await service.restart()
      const told = await service.ask({ path, credential: service.recoveryKey })
      return told.status === 200 && told.bytes.equals(body)
    }
    /** The only damage there is, and that a repair ends it and leaves the file readable. */
    const isMended = async (said: RegExp): Promise<void> => {
      const [found = '', ...more] = await damage()
      assert.match(found, said)
      assert.deepEqual(more, [])
      assert.deepEqual(await inspection.mend(), [found])
      await inspection.inOrder()
      assert.equal(await served(), true)
      assert.deepEqual(await inlineDigests(inspection.database.reader), [digest])
    }

    it('names bytes that no row calls its own; a repair ends them', async () => {
      const stray = randomBytes(10)
      const row = { generation: newGeneration(), sha256: digestOf(stray), bytes: stray }
      await tamper((tx) => tx.insertInto('inline_bytes').values(row).execute())
      await isMended(/the database holds 10 bytes as .*, which no row says are there/)
    })

    it('names bytes whose row says that they are in the store; a repair keeps them', async () => {
      await tamper((tx) => tx.updateTable('blobs').set({ inline: 0 }).execute())
      await isMended(/the database holds 1000 bytes as .*, which no row says are there/)
    })

    it('names bytes that are taken for those of another file; a repair sets that right', async () => {
      await tamper((tx) =>
        tx
          .updateTable('inline_bytes')
          .set({ sha256: digestOf('another') })
          .execute(),
      )
      await isMended(/the database holds 1000 bytes as .*, which no row says are there/)
    })

    it('names a file whose row says that its bytes are here, and they are not', async () => {
      await tamper((tx) => tx.deleteFrom('inline_bytes').execute())
      const missing = [`blob ${digest} should have 1000 bytes; its bytes are missing`]
      assert.deepEqual(await damage(), missing)
      assert.deepEqual(await inspection.mend(), [])
      assert.deepEqual(await damage(), missing)
    })

    it('names a file whose bytes here are too few, or too many', async () => {
      for (const bytes of [body.subarray(1), Buffer.concat([body, body])]) {
        await tamper((tx) => tx.updateTable('inline_bytes').set({ bytes }).execute())
        assert.deepEqual(await damage(), [
          `blob ${digest} should have 1000 bytes; the database has ${bytes.byteLength} bytes`,
        ])
      }
    })

    it('leaves it to scrubbing to find what has rotted', async () => {
      const rotten = Buffer.from(body)
      rotten[500] = (body[500] ?? 0) ^ 1
      await tamper((tx) => tx.updateTable('inline_bytes').set({ bytes: rotten }).execute())
      assert.deepEqual(await damage(), [])
      const { database, store } = inspection
      const [{ rot } = assert.fail()] = await Array.fromAsync(scrub({ database, store, bytesPerSecond: 1e9 }, ''))
      assert.equal(rot, `its content has the SHA-256 ${digestOf(rotten)}`)
    })
  })
})
