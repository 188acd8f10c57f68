import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../../../test/harness/client.ts'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { type Inspection, openInspection } from '../../../test/harness/inspection.ts'
import { inTheStore } from '../../../test/harness/kept-inline.ts'
import { startService, type TestService } from '../../../test/harness/service.ts'
import type { Transaction } from '../../database/database.ts'
import { day } from '../../kernel/units.ts'
import { reclaim } from '../reclaim/reclaim.ts'
import { giveUpQuarantined, inQuarantine, watchQuarantine } from './quarantine.ts'

after(closeConnections)

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** What doctor must see. Each test plants one damage, sees it named, and undoes it; nothing else may be found. */
forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  const bytes = randomBytes(1000)
  const digest = digestOf(bytes)
  let artifactId: string
  let name: string
  before(async () => {
    // Without a worker: upkeep shall not clear away what is planted.
    service = await startService(engine, {
      onDisk: true,
      settings: inTheStore,
      roles: { gateway: 'api', worker: false },
    })
    inspection = await openInspection(service)
    const path = '/api/v1/repositories/releases/raw/a/b.txt'
    const put = await service.ask({ method: 'PUT', path, credential: service.recoveryKey, body: bytes })
    artifactId = put.json.artifact.id
    name = await inspection.nameOf(digest)
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  const fileOf = (blob: string): string => join(service.dataDir, 'blobs', blob.slice(0, 2), blob)
  const blobPath = (): string => fileOf(name)
  const change = (work: (tx: Transaction) => Promise<unknown>): Promise<unknown> =>
    inspection.database.transaction(work)

  const sees = async (damage: RegExp[], waiting: RegExp[] = []): Promise<void> => {
    const found = await inspection.findings()
    for (const kind of ['damage', 'waiting'] as const) {
      const expected = kind === 'damage' ? damage : waiting
      assert.equal(found[kind].length, expected.length, `${kind}: ${found[kind].join('\n')}`)
      expected.forEach((pattern, index) => {
        assert.match(found[kind][index] ?? '', pattern)
      })
    }
  }

  /** One damage: how it is done, what is said of it, how it is undone. */
  const plant = (
    what: string,
    seen: { damage?: () => RegExp[]; waiting?: () => RegExp[] },
    harm: () => Promise<unknown>,
    undo: () => Promise<unknown>,
  ): void => {
    it(what, async () => {
      await sees([])
      await harm()
      try {
        await sees(seen.damage?.() ?? [], seen.waiting?.() ?? [])
      } finally {
        await undo()
      }
      await sees([])
    })
  }

  describe('doctor names', () => {
    for (const [column, name] of [
      ['published_bytes', 'published'],
      ['pending_bytes', 'pending'],
      ['retired_bytes', 'retired'],
    ] as const) {
      const move = (by: number) => () =>
        change((tx) =>
          tx
            .updateTable('repositories')
            .set((eb) => ({ [column]: eb(column, '+', by) }))
            .where('id', '=', 'releases')
            .execute(),
        )
      plant(
        `a wrong counter of ${name} bytes`,
        {
          damage: () => [
            new RegExp(`repository releases: the counter of ${name} bytes says \\d+, the claims say \\d+`),
          ],
        },
        move(7),
        move(-7),
      )
    }

    const moveReserved = (by: number) => () =>
      change((tx) =>
        tx
          .updateTable('counters')
          .set((eb) => ({ value: eb('value', '+', by) }))
          .where('name', '=', 'reserved_bytes')
          .execute(),
      )
    plant(
      "a wrong counter of the server's bytes",
      { damage: () => [/counter of reserved bytes says 1007, the claims say 1000/] },
      moveReserved(7),
      moveReserved(-7),
    )

    plant(
      'stored bytes that are gone',
      { damage: () => [new RegExp(`${digest} should have 1000 bytes; its bytes are missing`)] },
      () => rm(blobPath()),
      () => writeFile(blobPath(), bytes),
    )

    plant(
      'stored bytes that are fewer',
      { damage: () => [new RegExp(`${digest} should have 1000 bytes; the store has 999 bytes`)] },
      () => truncate(blobPath(), 999),
      () => writeFile(blobPath(), bytes),
    )

    const orphan = digestOf(Buffer.from('orphan'))
    const orphanName = `${orphan}-${'0'.repeat(32)}`
    plant(
      'bytes that no row knows',
      {
        damage: () => [
          new RegExp(`the store holds ${orphanName} \\(6 bytes\\), which no row knows; it is kept, first seen at 20`),
        ],
      },
      () => writeFile(fileOf(orphanName), 'orphan'),
      () => rm(fileOf(orphanName)),
    )

    plant(
      'a blob that is neither claimed nor queued',
      { damage: () => [new RegExp(`blob ${orphan} is claimed by nobody and not queued`)] },
      () =>
        change((tx) =>
          tx
            .insertInto('blobs')
            .values({ sha256: orphan, size: 6, state: 'expected', stored_at: null, generation: '' })
            .execute(),
        ),
      () => change((tx) => tx.deleteFrom('blobs').where('sha256', '=', orphan).execute()),
    )

    plant(
      'a published file whose bytes are not called stored',
      { damage: () => [new RegExp(`${artifactId} is published, but no row says that ${digest} is stored`)] },
      () => change((tx) => tx.updateTable('blobs').set({ state: 'expected' }).execute()),
      () => change((tx) => tx.updateTable('blobs').set({ state: 'stored' }).execute()),
    )

    // The row agrees with the store, and both differ from what was published.
    plant(
      'a published file that claims another size than is stored',
      {
        damage: () => [
          new RegExp(`${artifactId} is published, but no row says that ${digest} is stored with 1000 bytes`),
        ],
      },
      async () => {
        await truncate(blobPath(), 999)
        await change((tx) => tx.updateTable('blobs').set({ size: 999 }).execute())
      },
      async () => {
        await writeFile(blobPath(), bytes)
        await change((tx) => tx.updateTable('blobs').set({ size: 1000 }).execute())
      },
    )

    const claim = {
      id: '00000000-0000-7000-8000-000000000000',
      repository: 'releases',
      holder: 'artifact',
      sha256: digest,
      size: 0,
      retired_at: null,
    } as const
    plant(
      'a claim without a holder',
      { damage: () => [new RegExp(`the claim ${claim.id} has no holder`)] },
      () =>
        change((tx) =>
          tx
            .insertInto('claims')
            .values({ ...claim, beside: 0, state: 'pending' })
            .execute(),
        ),
      () => change((tx) => tx.deleteFrom('claims').where('id', '=', claim.id).execute()),
    )

    plant(
      'a published file without a live claim',
      { damage: () => [new RegExp(`artifact ${artifactId} is published without a live claim`)] },
      () =>
        change((tx) =>
          Promise.all([
            tx.updateTable('claims').set({ state: 'retired' }).execute(),
            tx.updateTable('repositories').set({ published_bytes: 0, retired_bytes: 1000 }).execute(),
          ]),
        ),
      () =>
        change((tx) =>
          Promise.all([
            tx.updateTable('claims').set({ state: 'live' }).execute(),
            tx.updateTable('repositories').set({ published_bytes: 1000, retired_bytes: 0 }).execute(),
          ]),
        ),
    )

    plant(
      'a path that does not show the newest revision of its history',
      { damage: () => [/"a\/b.txt" does not show the newest revision/] },
      () =>
        change(async (tx) => {
          const row = await tx.selectFrom('asset_revisions').selectAll().executeTakeFirstOrThrow()
          await tx
            .insertInto('asset_revisions')
            .values({ ...row, revision: 2 })
            .execute()
        }),
      () => change((tx) => tx.deleteFrom('asset_revisions').where('revision', '=', 2).execute()),
    )

    plant(
      'and what waits for upkeep, which is no damage',
      { waiting: () => [/1 digests wait for reclaim/, /1 staging places are in use or wait/] },
      async () => {
        await change((tx) =>
          tx
            .insertInto('reclaim_candidates')
            .values({ sha256: orphan, since: new Date(0).toISOString() })
            .execute(),
        )
        await writeFile(join(service.dataDir, 'staging', 'left-behind'), '')
      },
      async () => {
        await change((tx) => tx.deleteFrom('reclaim_candidates').execute())
        await rm(join(service.dataDir, 'staging', 'left-behind'))
      },
    )

    it('a live claim of an upload whose artifact is gone', async () => {
      const session = await service.ask({
        path: '/api/v1/repositories/releases/uploads',
        credential: service.recoveryKey,
        headers: { 'idempotency-key': 'once' },
        json: { name: 'x', size: '1000', sha256: digest },
      })
      const sent = await service.ask({
        method: 'PUT',
        path: `/api/v1/repositories/releases/uploads/${session.json.id}/content`,
        credential: service.recoveryKey,
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
      })
      assert.equal(sent.status, 200, sent.text)
      await sees([])
      await change((tx) => tx.deleteFrom('artifacts').where('id', '=', session.json.id).execute())
      const inSearch = engine.name === 'sqlite' ? [/search knows something at \d+, where no file is/] : []
      await sees([new RegExp(`the claim ${session.json.id} has no holder`), ...inSearch])
    })
  })

  describe('repair', () => {
    /** One damage, and that it is gone without a person's doing. `upkeep` follows where reclaim does the rest. */
    const mends = (what: string, said: RegExp, harm: () => Promise<unknown>) => {
      it(`mends ${what}`, async () => {
        const sums = await inspection.sums()
        await harm()
        const mended = await inspection.mend()
        assert.ok(
          mended.some((text) => said.test(text)),
          mended.join('\n'),
        )
        await inspection.upkeep()
        assert.deepEqual(
          (await inspection.findings()).damage.filter((text) => said.test(text)),
          [],
        )
        assert.deepEqual(await inspection.sums(), sums)
      })
    }
    const now = (aheadMs = 0): string => new Date(service.clock.now() + aheadMs).toISOString()
    const nobody = '00000000-0000-7000-8000-000000000001'

    mends('the counters of a repository', /counter of \w+ bytes/, () =>
      change((tx) =>
        tx.updateTable('repositories').set({ published_bytes: 1, pending_bytes: 2, retired_bytes: 3 }).execute(),
      ),
    )
    for (const name of ['reserved_bytes', 'accounts', 'open_jobs'] as const)
      mends(`the counter of ${name}`, /counter of/, () =>
        change((tx) => tx.updateTable('counters').set({ value: 77 }).where('name', '=', name).execute()),
      )
    const orphan = digestOf(Buffer.from('orphan'))
    const orphanName = `${orphan}-${'0'.repeat(32)}`
    mends('a blob that is neither claimed nor queued', /claimed by nobody/, () =>
      change((tx) =>
        tx
          .insertInto('blobs')
          .values({ sha256: orphan, size: 6, state: 'expected', stored_at: null, generation: '' })
          .execute(),
      ),
    )
    mends('a reservation without a holder', /claim 00000000-0000-7000-8000-000000000001 has no holder/, async () => {
      const claim = { id: nobody, repository: 'releases', holder: 'artifact', sha256: null, retired_at: null } as const
      await change((tx) =>
        tx
          .insertInto('claims')
          .values({ ...claim, size: 0, beside: 0, state: 'pending' })
          .execute(),
      )
    })
    mends('a turn that lasts for ever, as after a clock that ran ahead', /is taken until/, async () => {
      const opened = await service.ask({
        path: '/api/v1/repositories/releases/uploads',
        credential: service.recoveryKey,
        headers: { 'idempotency-key': 'stuck' },
        json: { name: 'x', size: '0', sha256: digestOf(Buffer.from('')) },
      })
      const { id } = opened.json
      await change((tx) =>
        tx
          .updateTable('uploads')
          .set({ turn_holder: nobody, turn_until: now(day) })
          .where('id', '=', id)
          .execute(),
      )
      const busy = await service.ask({
        method: 'POST',
        path: `${opened.headers.location}/complete`,
        credential: service.recoveryKey,
      })
      assert.equal(busy.status, 503, busy.text)
    })
    mends('a job that waits for ever', /waits until/, async () => {
      const job = { id: nobody, kind: 'completion', subject: nobody, repository: 'releases', owner: 'key:x' } as const
      const state = { status: 'queued', generation: 0, attempts: 0, lasting: 0 } as const
      const rest = { credential_id: null, error_code: null, holder: null, ended_at: null }
      await change(async (tx) => {
        const times = { created_at: now(), due_at: now(day) }
        await tx
          .insertInto('jobs')
          .values({ ...job, ...state, ...rest, ...times })
          .execute()
        await tx.updateTable('counters').set({ value: 1 }).where('name', '=', 'open_jobs').execute()
      })
    })
    it('removes no bytes that no row knows: they are kept and counted until a person gives them up', async () => {
      await writeFile(fileOf(orphanName), 'orphan')
      assert.deepEqual(await inspection.mend(), [])
      await inspection.upkeep(0)
      assert.ok((await inspection.stored()).includes(orphan))
      const { blobs, bytes: counted } = await inQuarantine(inspection)
      assert.deepEqual({ blobs, counted }, { blobs: 1, counted: 6 })
      assert.equal(await giveUpQuarantined(inspection, now(-day)), 0)
      assert.equal(await giveUpQuarantined(inspection, now()), 1)
      await reclaim(inspection)
      assert.ok(!(await inspection.stored()).includes(orphan))
      assert.ok(!(await inspection.findings()).damage.some((text) => text.includes(orphan)))
      assert.equal((await inQuarantine(inspection)).blobs, 0)
    })

    it('lets go of what left quarantine by itself', async () => {
      await writeFile(fileOf(orphanName), 'orphan')
      await watchQuarantine(inspection)
      assert.equal((await inQuarantine(inspection)).blobs, 1)
      await rm(fileOf(orphanName))
      await watchQuarantine(inspection)
      assert.equal((await inQuarantine(inspection)).blobs, 0)
    })

    it('leaves what only a person can decide', async () => {
      await rm(blobPath())
      assert.ok(!(await inspection.mend()).some((text) => text.includes(digest)))
      assert.match((await inspection.findings()).damage.join('\n'), new RegExp(`${digest} should have 1000 bytes`))
      await writeFile(blobPath(), bytes)
    })
  })
})
