import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { scrub } from '../../src/content/checks/scrub.ts'
import { reclaim } from '../../src/content/reclaim/reclaim.ts'
import { settleDeletions } from '../../src/features/lifecycle/deletion/jobs.ts'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import { healedSince } from '../../src/features/operating/backups/healing.queries.ts'
import { heal, type Rotten } from '../../src/features/operating/backups/healing.ts'
import { day, minute } from '../../src/kernel/units.ts'
import type { Engines } from '../../src/main/engines.ts'
import { manifestsOf } from '../../src/main/restoring.ts'
import { blobName, digestOfName } from '../../src/ports/blob-name.ts'
import { freshVault, removeVault, roomOf, takePoint } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { byEngine } from '../harness/kept-inline.ts'
import { withPartsOf } from '../harness/moving.ts'

after(closeConnections)

forEachEngine((engine) => {
  describe('files that rot', () => {
    let catalog: Catalog
    let vault: string
    const files = [randomBytes(2_000_000), randomBytes(300_000), randomBytes(200), randomBytes(100_000)]
    const [large, packed, small, unsaved] = files.map(digestOf)

    before(async () => {
      vault = await freshVault(engine)
      catalog = await Catalog.open(engine, byEngine(engine))
      for (const [index, body] of files.slice(0, 3).entries())
        await catalog.expect({ method: 'PUT', path: `/raw/${index}`, body }, 201)
      // Two points, so that one may be damaged as well.
      assert.equal((await takePoint(catalog.service, vault)).state, 'completed')
      await catalog.pass(day)
      assert.equal((await takePoint(catalog.service, vault)).state, 'completed')
      await catalog.expect({ method: 'PUT', path: '/raw/3', body: files[3] ?? '' }, 201)
    })
    after(async () => {
      await catalog.close()
      await removeVault(vault)
    })

    /** Writes other bytes where those of a digest are. */
    const spoil = async ({ database, store }: Engines, digest: string, bytes: Uint8Array): Promise<void> => {
      const row = await database.reader
        .selectFrom('blobs')
        .selectAll()
        .where('sha256', '=', digest)
        .executeTakeFirstOrThrow()
      if (row.inline === 1)
        return await database.transaction(async (tx) => {
          await tx.updateTable('inline_bytes').set({ bytes }).where('generation', '=', row.generation).execute()
        })
      const staged = await store.stage(crypto.randomUUID(), { name: null, bytes: null })
      // What it takes is its own from then on.
      await staged.write(Uint8Array.from(bytes))
      await staged.publish(blobName(digest as Parameters<typeof blobName>[0], row.generation))
    }
    const scrubbed = async ({ database, store }: Engines): Promise<Rotten[]> => {
      const found: Rotten[] = []
      for await (const { digest, bytes, rot } of scrub({ database, store, bytesPerSecond: 1e9 }, ''))
        if (rot !== null) found.push({ digest, bytes, rot })
      return found
    }

    it('are brought back from the vault, checked, and told of; what no point has stays damaged', async () => {
      await withPartsOf(catalog.service, async (engines) => {
        const digests = [large, packed, small, unsaved].map(String)
        for (const digest of digests) await spoil(engines, digest, Buffer.from('rotten'))
        const rotten = await scrubbed(engines)
        assert.deepEqual(rotten.map(({ digest }) => String(digest)).sort(), [...digests].sort())
        const room = await roomOf(vault)
        const healed = await heal({ ...engines, room }, manifestsOf(room), rotten)
        assert.deepEqual([...healed].sort(), digests.slice(0, 3).sort())
        assert.deepEqual(
          (await scrubbed(engines)).map(({ digest }) => digest),
          [unsaved],
        )
        assert.equal(await healedSince(engines.database.reader, ''), 3)
        await spoil(engines, String(unsaved), files[3] ?? Buffer.alloc(0))
      })
      for (const [index, body] of files.entries())
        assert.ok((await catalog.expect({ path: `/raw/${index}` }, 200)).bytes.equals(body), String(index))
      const events = await catalog.expect({ path: '/storage/events', credential: catalog.keeper }, 200)
      const codes = events.json.items.map(({ code }: { code: string }) => code)
      assert.equal(codes.filter((code: string) => code === 'scrub.healed').length, 3)
      const metrics = await catalog.service.ask({ path: '/health/metrics', credential: catalog.service.healthKey })
      assert.match(metrics.text, /^svc_scrub_healed_blobs 3$/m)
      assert.match(metrics.text, /^svc_backup_warning\{code="vault_not_configured",severity="critical"\} 1$/m)
      await catalog.inspection.inOrder()
    })

    it('that go and are stored again while they are brought back leave nothing that nobody claims', async () => {
      const body = randomBytes(1_500_000)
      const digest = digestOf(body)
      const { inspection } = catalog
      const id = await catalog.published(body)
      await catalog.pass(day)
      assert.equal((await takePoint(catalog.service, vault)).state, 'completed')
      const names = async (): Promise<string[]> => {
        const found = await Array.fromAsync(inspection.store.list(), ({ name }) => name)
        return found.filter((name) => digestOfName(name) === digest)
      }
      const before = await names()
      assert.equal(before.length, 1)
      const goneAndStoredAgain = async (): Promise<string> => {
        await catalog.removed(id)
        const { database, clock } = inspection
        catalog.service.clock.advance(minute)
        await settleDeletions({ database, clock, cleanupGraceMs: 0, report: assert.fail })
        await reclaim(inspection)
        assert.deepEqual(await names(), [])
        return await catalog.published(body)
      }
      let again: string | null = null
      await withPartsOf(catalog.service, async (engines) => {
        await spoil(engines, digest, Buffer.from('rotten'))
        const rotten = (await scrubbed(engines)).filter((each) => each.digest === digest)
        assert.equal(rotten.length, 1)
        const room = await roomOf(vault)
        const watched: Room = {
          ...room,
          vault: {
            ...room.vault,
            async *open(name, range) {
              if (name.includes('.blob') && again === null) {
                again = ''
                // Whatever is thrown here would be taken for a damaged vault.
                again = await goneAndStoredAgain().catch((error: unknown) => String(error))
              }
              yield* room.vault.open(name, range)
            },
          },
        }
        await heal({ ...engines, room: watched }, manifestsOf(room), rotten)
      })
      await catalog.pass(day)
      await inspection.upkeep(0)
      const after = await names()
      assert.equal(after.length, 1, String(again))
      assert.notDeepEqual(after, before)
      await inspection.inOrder()
      assert.ok((await catalog.expect({ path: `/artifacts/${again}/content` }, 200)).bytes.equals(body))
    })
  })
})
