import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { partBytesMin, uploadLeaseMs } from '../../src/kernel/limits/transfers.ts'
import { minute } from '../../src/kernel/units.ts'
import { ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { startService, type TestService } from '../harness/service.ts'
import { until } from '../harness/until.ts'
import { makeKeeper, removeArtifact, restoreArtifact } from './keeper.ts'
import { slowly } from './slowly.ts'
import {
  bytesOf,
  complete,
  type Door,
  doors,
  type File,
  fetchBytes,
  fileOf,
  inChunks,
  inParts,
  openSession,
  partsOf,
  published,
  rawPlace,
  sendPart,
  sha256Of,
  storedParts,
  type Target,
  throughSession,
  uploadPlace,
  withChecksum,
} from './uploads.ts'

/** A clock that is put forward or back while files come in: nothing that was acknowledged is lost, nothing is stuck. */

after(closeConnections)

forEachEngine((engine) => {
  describe('a clock that jumps', () => {
    let service: TestService
    let inspection: Inspection
    let keeper: string
    let files = 0
    const acknowledged = new Map<string, Buffer>()
    const to: Target = {
      get url() {
        return service.url
      },
      get credential() {
        return service.recoveryKey
      },
    }

    before(async () => {
      // Upkeep by hand, so that it falls into the very moment after the jump.
      service = await startService(engine, { roles: { gateway: 'api', worker: false } })
      inspection = await openInspection(service)
      keeper = await makeKeeper(to)
      for (const door of doors) await store(door, nextFile(50_000))
    })
    after(async () => {
      await inspection.close()
      await service.stop()
    })

    const nextFile = (bytes: number): File => {
      const name = `file-${++files}`
      return fileOf(name, Buffer.concat([bytesOf(name, 1_000), Buffer.alloc(bytes, name)]))
    }

    const store = async (door: Door, file: File): Promise<void> => {
      const told = await door.send(to, file)
      assert.ok(told.status === 200 || told.status === 201, `${door.name}: ${told.status} ${told.text}`)
      acknowledged.set(door.place(file, told), file.bytes)
    }

    const jump = async (minutes: number): Promise<void> => {
      service.clock.advance(minutes * minute)
      await inspection.upkeep()
    }

    /** Once the service has begun to take something in. */
    const jumpUnderWay = async (minutes: number): Promise<void> => {
      await until('a turn is taken', async () => {
        const { reader } = inspection.database
        return reader.selectFrom('uploads').select('id').where('turn_holder', 'is not', null).executeTakeFirst()
      })
      await jump(minutes)
    }

    /** Everything acknowledged is there bit by bit, and nothing but it. */
    const allIsWell = async (): Promise<void> => {
      for (const [place, bytes] of acknowledged) assert.ok((await fetchBytes(to, place))?.equals(bytes), place)
      assert.equal((await published(to)).length, acknowledged.size)
      assert.equal((await inspection.sums()).pending, 0)
      await inspection.upkeep()
      assert.deepEqual(await inspection.findings(), { damage: [], waiting: [] })
    }

    /**
     * Whether it was taken. Where the clock went forward the service may not know that nobody has taken over or cleared
     * away; then it says 503, and trying again is right.
     */
    const taken = (told: Told, minutes: number): boolean => {
      if (minutes > 0 && told.status === 503) return false
      assert.ok(told.status < 300, told.text)
      return true
    }

    for (const minutes of [300, 6, -300]) {
      const way = `${Math.abs(minutes)} minutes ${minutes > 0 ? 'forward' : 'back'}`

      it(`${way} in the middle of a part: the others stay, and the session goes on`, async () => {
        const file = nextFile(partBytesMin)
        const upload = uploadPlace(await openSession(to, file))
        const [first, last] = partsOf(file)
        assert.ok(first !== undefined && last !== undefined)
        assert.equal((await sendPart(to, upload, 1, last)).status, 204)
        const send = (body = first as Parameters<typeof sendPart>[4]) => sendPart(to, upload, 0, first, body)
        const whole = taken(await slowly(first, () => jumpUnderWay(minutes), send), minutes)
        const stored = await storedParts(to, upload)
        assert.equal(stored.get(1), sha256Of(last))
        assert.equal(stored.size, whole ? 2 : 1)
        assert.equal((await send()).status, 204)
        const told = await complete(to, upload)
        assert.equal(told.status, 200, told.text)
        acknowledged.set(inParts.place(file, told), file.bytes)
        await allIsWell()
      })

      for (const door of doors)
        it(`${way} in the middle of ${door.name}: all of it is there or nothing, and it can be sent again`, async () => {
          const file = nextFile(500_000)
          const length = { 'content-length': String(file.bytes.byteLength) }
          const session = door === throughSession ? await openSession(to, file) : null
          const path = session === null ? rawPlace(file) : `${uploadPlace(session)}/content`
          const headers: Record<string, string> =
            door === withChecksum
              ? { ...length, 'x-checksum-sha256': file.sha256 }
              : door === inChunks
                ? {}
                : { ...length, 'content-type': 'application/octet-stream' }
          const told = await slowly(
            file.bytes,
            () => jumpUnderWay(minutes),
            (body) => ask(to.url, { method: 'PUT', path, credential: to.credential, headers, body }),
          )
          const whole = taken(told, minutes)
          const listed = (await published(to)).filter(({ sha256 }) => sha256 === file.sha256)
          assert.equal(listed.length, whole ? 1 : 0)
          await store(door, file)
          await allIsWell()
        })

      it(`${way} between two parts and a restart: parts and deleted files are kept as long as was said`, async () => {
        const file = nextFile(partBytesMin)
        const session = await openSession(to, file)
        const upload = uploadPlace(session)
        const [first, last] = partsOf(file)
        assert.ok(first !== undefined && last !== undefined)
        assert.equal((await sendPart(to, upload, 0, first)).status, 204)
        const gone = nextFile(10_000)
        const { json } = await throughSession.send(to, gone)
        assert.equal((await removeArtifact(to, keeper, json.id)).json.outcome, 'deleted')
        await jump(minutes)
        await service.restart()
        await jump(0)
        assert.deepEqual([...(await storedParts(to, upload)).keys()], [0])
        assert.equal((await openSession(to, file)).json.expiresAt, session.json.expiresAt)
        assert.equal((await sendPart(to, upload, 1, last)).status, 204)
        const told = await complete(to, upload)
        assert.equal(told.status, 200, told.text)
        acknowledged.set(inParts.place(file, told), file.bytes)
        assert.equal((await restoreArtifact(to, keeper, json.id)).status, 200)
        acknowledged.set(throughSession.place(gone, { ...told, json }), gone.bytes)
        await allIsWell()
      })
    }

    it('back, when somebody died with the turn of an upload: doctor says so, and its repair frees the upload', async () => {
      const file = nextFile(10_000)
      const upload = uploadPlace(await openSession(to, file))
      const id = upload.split('/').at(-1) ?? assert.fail(upload)
      // What a dead process leaves.
      const turn_until = new Date(service.clock.now() + uploadLeaseMs).toISOString()
      await inspection.database.transaction((tx) =>
        tx.updateTable('uploads').set({ turn_holder: 'the dead', turn_until }).where('id', '=', id).execute(),
      )
      await jump(-300)
      const busy = await sendPart(to, upload, 0, file.bytes)
      assert.deepEqual([busy.status, busy.json.code], [503, 'busy'])
      const { damage } = await inspection.findings()
      assert.equal(damage.length, 1)
      assert.match(String(damage[0]), new RegExp(`^upload ${id} is taken until ${turn_until}`))
      assert.deepEqual(await inspection.mend(), damage)
      await store(inParts, file)
      await allIsWell()
    })
  })
})
