import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Structure } from '../../src/features/operating/backups/structure.ts'
import { verifyDeep } from '../../src/features/operating/backups/verify.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { faultPoints } from '../../src/kernel/fault-points.ts'
import { day } from '../../src/kernel/units.ts'
import type { Engines } from '../../src/main/engines.ts'
import { monthlyRehearsal } from '../../src/main/rehearsing/monthly.ts'
import { blobName } from '../../src/ports/blob-name.ts'
import { manifestsIn, roomOf } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { examine } from '../harness/doctor.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { type Place, placeLike, withPartsOf } from '../harness/moving.ts'
import { type Environment, endProgramsAfterTests, programOf, runProgram, settingsFor } from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'

/** Sudden death while points are taken, forgotten and restored: every point that there is can be relied on. */
endProgramsAfterTests()
after(closeConnections)

const program = programOf(join(import.meta.dirname, 'backup-that-dies.ts'))
const named = (...begin: string[]) => faultPoints.filter((point) => begin.includes(point.split('.')[0] ?? ''))

forEachEngine((engine) => {
  describe('killed while backups are made', () => {
    let catalog: Catalog
    let folder: string
    let aheadMs = 0
    const kept = 3
    const settingsOf = (place: Place): Environment =>
      settingsFor(place, { SVC_BLOB_STORE: place.blobStoreUrl, SVC_BACKUP_VAULT: `file:${folder}`, ...inTheStore })

    before(async () => {
      catalog = await Catalog.open(engine, inTheStore)
      for (let file = 0; file < 10; file++) await catalog.published()
      // So that retention has something to let go.
      await inDatabase(catalog.service, async (q) => {
        const row = { id: 1, revision: 1, enabled: 0, hour: 2, minute: 0, timezone: 'UTC', counted_from: '' } as const
        await q
          .insertInto('backup_plan')
          .values({ ...row, daily: kept, weekly: 0, monthly: 0 })
          .execute()
      })
      folder = await mkdtemp(join(tmpdir(), 'svc-vault-'))
    })
    after(async () => {
      await catalog.close()
      await rm(folder, { recursive: true, force: true })
    })

    const run = (command: string, place: Place, dieAt = '') =>
      runProgram(process.execPath, [program, ...command.split(' ')], {
        ...settingsOf(place),
        SVC_TEST_DIE_AT: dieAt,
        SVC_TEST_AHEAD: String(aheadMs),
      })
    const killed = async (command: string, place: Place, point: string): Promise<void> => {
      const died = await run(command, place, point)
      assert.deepEqual([died.code, died.signal], [null, 'SIGKILL'], died.stderr)
    }
    const done = async (command: string, place: Place): Promise<void> => {
      const { code, stdout, stderr } = await run(command, place)
      assert.equal(code, 0, stdout + stderr)
    }
    /** Every point that has a manifest is whole, to its last byte. */
    const wholePoints = async (): Promise<number> => {
      const room = await roomOf(`file:${folder}`)
      const reading = { room, pace: async () => {}, goOn: () => {}, told: () => {} }
      const points = await manifestsIn(room)
      for (const point of points) {
        await new Structure(room).check(point)
        const { fault, files } = await verifyDeep(reading, point.id)
        assert.equal(fault, null)
        assert.ok(files > 0)
      }
      return points.length
    }

    for (const point of named('backup', 'retention'))
      it(`at ${point}: the points that there are stay whole, and the next run goes on`, async () => {
        // Something new of each size, so that there is something to get to the point with.
        await catalog.published(randomBytes(3_000_000).toString('base64'))
        await catalog.published(`small ${point}`)
        // Something that no point names, to be swept.
        await mkdir(join(folder, 'data/00'), { recursive: true })
        await writeFile(join(folder, `data/00/${'0'.repeat(64)}.blob`), 'left behind')
        // What dead runs left is old enough to be swept, and nobody waits for the lease of who died.
        aheadMs += 2 * day
        await killed('run', catalog.service, point)
        const before = await wholePoints()
        aheadMs += day
        await done('run', catalog.service)
        assert.ok((await wholePoints()) >= Math.min(Math.max(1, before), kept))
        const open = await inDatabase(catalog.service, (q) =>
          q.selectFrom('backup_jobs').selectAll().where('finished_at', 'is', null).execute(),
        )
        assert.deepEqual(open, [], 'what died is not told of as under way')
      })

    for (const point of named('import'))
      it(`at ${point}: the same restore goes on`, async () => {
        const place = engine.use(await placeLike(catalog.service, engine))
        await killed('restore', place, point)
        await done('restore', place)
        assert.deepEqual((await examine(settingsOf(place))).damage, [])
      })

    it('a rehearsal: whoever looks next tells that it died, and removes what it left', async () => {
      const { dataDir } = catalog.service
      const left = async () => (await readdir(dataDir)).filter((name) => name.startsWith('rehearsal')).sort()
      const cameOf = () =>
        inDatabase(catalog.service, (q) =>
          q.selectFrom('backup_rehearsals').select('error_code').orderBy('id', 'desc').executeTakeFirst(),
        )
      await killed('rehearse', catalog.service, 'import.blob')
      assert.deepEqual(await left(), ['rehearsal', 'rehearsal.begun', 'rehearsal.lock'])
      assert.deepEqual(await cameOf(), { error_code: null })
      await withPartsOf(catalog.service, (engines) => monthlyRehearsal(engines).look())
      assert.deepEqual(await left(), ['rehearsal.lock'])
      assert.deepEqual(await cameOf(), { error_code: 'interrupted' })
      await done('rehearse', catalog.service)
      assert.deepEqual(await left(), ['rehearsal.lock'])
      assert.deepEqual(await cameOf(), { error_code: null })
    })

    for (const [point, into] of [
      ['publish.announced', 'back-one'],
      ['publish.placed', 'back-two'],
      ['publish.committed', 'back-three'],
    ] as const)
      it(`at ${point}: a repository that is brought back beside the others is all there after another run`, async () => {
        await killed(`only ${into}`, catalog.service, point)
        await done(`only ${into}`, catalog.service)
        const of = (repository: string) =>
          inDatabase(catalog.service, async (q) => {
            const rows = await q.selectFrom('artifacts').select('sha256').where('repository', '=', repository).execute()
            return rows.map(({ sha256 }) => sha256).sort()
          })
        assert.deepEqual(await of(into), await of('one'))
        assert.deepEqual((await examine(settingsOf(catalog.service))).damage, [])
      })

    for (const point of named('heal'))
      it(`at ${point}: what was brought back is there, and the next scrub has nothing to say`, async () => {
        const largest = async ({ database }: Engines) => {
          const blobs = database.reader.selectFrom('blobs').selectAll().where('state', '=', 'stored')
          const { sha256, generation } = await blobs.orderBy('size', 'desc').executeTakeFirstOrThrow()
          return { sha256, name: blobName(toSha256(sha256), generation) }
        }
        await withPartsOf(catalog.service, async (engines) => {
          const staged = await engines.store.stage(crypto.randomUUID(), { name: null, bytes: null })
          await staged.write(Buffer.from('rotten'))
          await staged.publish((await largest(engines)).name)
        })
        await killed('scrub', catalog.service, point)
        await done('scrub', catalog.service)
        await withPartsOf(catalog.service, async (engines) => {
          const { sha256, name } = await largest(engines)
          const range = { start: 0, end: (await engines.store.size(name)) ?? 0 }
          // A piece is valid until the next one.
          const pieces = await Array.fromAsync(await engines.store.open(name, range), (piece) => Buffer.from(piece))
          assert.equal(digestOf(Buffer.concat(pieces)), sha256)
        })
      })
  })
})
