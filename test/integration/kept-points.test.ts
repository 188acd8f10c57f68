import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { ChunkWriter } from '../../src/features/operating/backups/chunks.ts'
import { contentsOf, filesOf } from '../../src/features/operating/backups/contents.ts'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import { entryText } from '../../src/features/operating/backups/entries.ts'
import { holdPoint } from '../../src/features/operating/backups/holding.ts'
import { pointName } from '../../src/features/operating/backups/layout.ts'
import { type Manifest, manifestText } from '../../src/features/operating/backups/manifest.ts'
import { requestCapture } from '../../src/features/operating/backups/requests.ts'
import { verifyShare } from '../../src/features/operating/backups/verify.ts'
import { timestamp } from '../../src/kernel/clock.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { deepShares } from '../../src/kernel/limits/backups.ts'
import { day, minute } from '../../src/kernel/units.ts'
import { withPoint } from '../../src/main/commands/with-point.ts'
import { findPointFor } from '../../src/main/restoring.ts'
import { VaultFailure } from '../../src/ports/vault.ts'
import { toVaultName } from '../../src/ports/vault-name.ts'
import { freshVault, manifestsIn, removeVault, restoreTo, roomOf, takePoint, withAgent } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { digestOf } from '../harness/inspection.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { type Place, placeLike } from '../harness/moving.ts'

after(closeConnections)

onSqlite((engine) => {
  describe('a point in a vault', () => {
    let catalog: Catalog
    let url: string
    let folder: string

    before(async () => {
      catalog = await Catalog.open(engine, { ...inTheStore, SVC_BACKUP_VAULT: 'file:/configured' })
      await catalog.published('small')
    })
    after(() => catalog.close())
    beforeEach(async () => {
      url = await freshVault(engine)
      folder = url.slice('file:'.length)
      await catalog.pass(day)
    })
    afterEach(() => removeVault(url))

    const get = async (path: string) =>
      (await catalog.service.ask({ path: `/api/v1/backup/${path}`, credential: catalog.service.recoveryKey })).json
    const put = (path: string, json: object, status = 200) => {
      const asked = { method: 'PUT', path: `/api/v1/backup/${path}`, credential: catalog.service.recoveryKey, json }
      return expectAnswer(catalog.service, asked, status)
    }
    const points = async () => (await get('points')).items
    const taken = async (room?: Room): Promise<string> => {
      const job = await takePoint(catalog.service, url, undefined, room)
      assert.deepEqual([job.state, job.error_code], ['completed', null])
      return String(job.point_id)
    }
    const files = (kind: string): string[] => globSync(join(folder, `data/*/*.${kind}*`))
    const lying = async (): Promise<string[]> => (await manifestsIn(await roomOf(url))).map(({ id }) => id).sort()
    const fresh = async (): Promise<Place> => engine.use(await placeLike(catalog.service, engine))
    const restored = async (): Promise<void> => {
      const { findings } = await restoreTo(await fresh(), url)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
    }
    const keep = async (daily: number, enabled = false): Promise<void> => {
      const schedule = { enabled, hour: 2, minute: 0, timezone: 'UTC' }
      const retention = { daily, weekly: 0, monthly: 0 }
      await put('plan', { expectedRevision: (await get('plan')).revision, ...schedule, retention })
    }
    /** The newest alone. */
    const keepFew = () => keep(0)

    it('goes by no plan that nobody has saved', async () => {
      const ids = [await taken(), await taken(), await taken()]
      assert.deepEqual(await lying(), ids.sort())
    })

    it('goes by the plan unless it is pinned, and the vault gets its room back', async () => {
      const room = await roomOf(url)
      /** Every file is named by a point that is there. */
      const nothingElse = async (): Promise<void> => {
        const named = new Set<string>()
        for (const manifest of await manifestsIn(room))
          for await (const { name } of filesOf(room, manifest)) named.add(name)
        assert.deepEqual(
          files('*')
            .map((path) => path.slice(folder.length + 1))
            .sort(),
          [...named].sort(),
        )
      }
      await keepFew()
      await taken()
      const [first] = await points()
      await put(`points/${first.id}/pin`, { pinned: true })
      for (let changes = 0; changes < 3; changes++) {
        await catalog.published(`change ${changes}`)
        await catalog.pass(3 * day)
        await taken()
        assert.equal((await points()).length, 2, 'the newest, and the one that is pinned')
        assert.equal((await points()).at(-1).id, first.id)
      }
      await nothingElse()
      const before = files('*').length
      await put(`points/${first.id}/pin`, { pinned: false })
      await catalog.pass(3 * day)
      await taken()
      assert.equal((await points()).length, 1)
      await nothingElse()
      assert.ok(files('*').length < before)
      await restored()
    })

    it('that was let go cannot be pinned any more while it is on its way out, however slow the vault is', async () => {
      await keepFew()
      const room = await roomOf(url)
      const told: string[] = []
      const slow: Room = {
        ...room,
        vault: {
          ...room.vault,
          async remove(names) {
            // What a person is told meanwhile has to be true.
            for (const name of names.filter((each) => each.startsWith('points/')))
              told.push(
                (await put(`points/${name.slice('points/'.length, -'.json'.length)}/pin`, { pinned: true }, 404)).json
                  .code,
              )
            await room.vault.remove(names)
          },
        },
      }
      await taken()
      const newest = await taken(slow)
      assert.deepEqual([told, await lying()], [['not_found'], [newest]])
    })

    it('stays for a service that was restored from it, and for one that begins beside it, until a person says so', async () => {
      await keep(7)
      const ids: string[] = []
      for (let days = 0; days < 3; days++) {
        await catalog.pass(day)
        ids.push(await taken())
      }
      await keepFew()
      await put(`points/${ids[0]}/pin`, { pinned: true })
      await put(`points/${ids[1]}/pin`, { pinned: true })
      const [, point = ''] = ids
      assert.deepEqual(await lying(), ids.sort())
      const back = await fresh()
      // It knows of the first one, and of no pin.
      await restoreTo(back, url, point)
      for (const place of [back, await fresh()])
        await withAgent(place, url, async (agent, { database }) => {
          const row = { id: 1, revision: 9, enabled: 0, hour: 2, minute: 0, timezone: 'UTC', counted_from: '' } as const
          await database.transaction(async (tx) => {
            await tx.deleteFrom('backup_plan').execute()
            await tx
              .insertInto('backup_plan')
              .values({ ...row, daily: 0, weekly: 0, monthly: 0 })
              .execute()
          })
          const before = await lying()
          await agent.look()
          assert.deepEqual(await lying(), before)
          // What it has taken itself it lets go.
          for (let days = 0; days < 2; days++) {
            await catalog.pass(day)
            await takePoint(place, url)
          }
          assert.equal((await lying()).length, before.length + 1)
          const found = await database.reader.selectFrom('backup_points').select(['id', 'pinned']).execute()
          for (const id of before) assert.equal(found.find((row) => row.id === id)?.pinned, 1)
        })
    })

    it('keeps its pin although its manifest was away for a while, which is told of', async () => {
      await keep(7)
      const ids: string[] = []
      for (let days = 0; days < 3; days++) {
        await catalog.pass(day)
        ids.push(await taken())
      }
      const [first = '', second = ''] = ids
      await put(`points/${first}/pin`, { pinned: true })
      await withAgent(catalog.service, url, async (agent) => {
        const looked = async (): Promise<void> => {
          catalog.service.clock.advance(2 * minute)
          await agent.look()
        }
        await rename(join(folder, 'points'), join(folder, 'away'))
        await looked()
        const told = async () =>
          (await points()).map(({ pinned, verifyError }: Record<string, unknown>) => [pinned, verifyError])
        assert.deepEqual(await told(), [
          [false, 'missing'],
          [false, 'missing'],
          [true, 'missing'],
        ])
        const codes = (await get('status')).warnings.map(({ code }: { code: string }) => code)
        assert.ok(codes.includes('verify_failed') && codes.includes('no_backup_yet'), String(codes))
        // Somebody wants this one to go, and may say so meanwhile.
        const { snapshotAt } = (await points())[1]
        const asked = { method: 'DELETE', path: `/api/v1/backup/points/${second}`, json: { confirm: snapshotAt } }
        await expectAnswer(catalog.service, { ...asked, credential: catalog.service.recoveryKey }, 204)
        await looked()
        await rename(join(folder, 'away'), join(folder, 'points'))
        await looked()
        assert.deepEqual(await told(), [
          [false, null],
          [true, null],
        ])
        await keepFew()
        await catalog.pass(day)
        const last = await taken()
        assert.deepEqual(await lying(), [first, last].sort())
        // What is away for good is forgotten in the end.
        await rm(join(folder, `points/${first}.json`))
        await looked()
        assert.equal((await points()).length, 2)
        await catalog.pass(31 * day)
        await looked()
        assert.equal((await points()).length, 1)
      })
    })

    it('that a service has only found neither goes nor has another one go before all of it was read', async () => {
      await keep(7)
      const sound = await taken()
      const before = new Set(files('pack'))
      await catalog.published('newer')
      await catalog.pass(day)
      const damaged = await taken()
      for (const path of files('pack'))
        if (!before.has(path)) await writeFile(path, Buffer.alloc((await stat(path)).size))
      const back = await fresh()
      await restoreTo(back, url, sound)
      await withAgent(back, url, async (agent, { database }) => {
        const told = (id: string) =>
          database.reader.selectFrom('backup_points').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
        const row = { id: 1, revision: 9, enabled: 0, hour: 2, minute: 0, timezone: 'UTC', counted_from: '' } as const
        await database.transaction(async (tx) => {
          await tx.deleteFrom('backup_plan').execute()
          await tx
            .insertInto('backup_plan')
            .values({ ...row, daily: 0, weekly: 0, monthly: 0 })
            .execute()
        })
        const letGoOf = async (): Promise<void> => {
          await database.transaction((tx) => tx.updateTable('backup_points').set({ pinned: 0 }).execute())
          catalog.service.clock.advance(day + minute)
          await agent.look()
        }
        await agent.look()
        assert.equal((await told(sound)).verify_depth, 'structural')
        for (let days = 0; days < deepShares; days++) {
          assert.deepEqual(await lying(), [sound, damaged].sort())
          await letGoOf()
        }
        assert.deepEqual([(await told(sound)).verify_depth, (await told(sound)).verify_error], ['deep', null])
        assert.equal((await told(damaged)).verify_error, 'damaged')
        await letGoOf()
        assert.deepEqual(await lying(), [sound, damaged].sort(), 'the newest, and the newest that is sound')
      })
    })

    it('of which the manifest is of no use is read once, and no more as long as it lies there so', async () => {
      await taken()
      const [torn, other] = [crypto.randomUUID(), crypto.randomUUID()]
      await writeFile(join(folder, `points/${torn}.json`), 'torn')
      const room = await roomOf(url)
      const { digest: _, ...content } = await findPointFor(room, 'latest')
      const strange = manifestText({ ...content, id: other, vault: crypto.randomUUID() })
      await writeFile(join(folder, `points/${other}.json`), strange)
      const read: string[] = []
      const counting: Room = {
        ...room,
        vault: {
          ...room.vault,
          async read(name, bytesMax) {
            read.push(name)
            return await room.vault.read(name, bytesMax)
          },
        },
      }
      const lookThrice = (): Promise<void> =>
        withAgent(
          catalog.service,
          url,
          async (agent) => {
            for (let looks = 0; looks < 3; looks++) {
              catalog.service.clock.advance(2 * minute)
              await agent.look()
            }
            // It is another one from now on.
            await writeFile(join(folder, `points/${torn}.json`), 'torn in another place')
            catalog.service.clock.advance(2 * minute)
            await agent.look()
          },
          undefined,
          counting,
        )
      await lookThrice()
      const times = (id: string): number => read.filter((name) => name === pointName(id)).length
      assert.deepEqual([times(torn), times(other)], [2, 1])
    })

    it('that was given up stays as long as somebody reads it, and no longer where that one has died', async () => {
      await keepFew()
      const room = await roomOf(url)
      const first = await taken()
      const reader = await holdPoint(room.vault, first, assert.fail)
      const now = new Date(catalog.service.clock.now() + day)
      for (const path of globSync(join(folder, 'points/*.held'))) await utimes(path, now, now)
      await catalog.published('more')
      await catalog.pass(day)
      const second = await taken()
      assert.deepEqual([await lying(), (await points()).length], [[first, second].sort(), 1])
      await restoreTo(await fresh(), url, first)
      await reader[Symbol.asyncDispose]()
      assert.deepEqual(globSync(join(folder, 'points/*.held')), [])
      await catalog.pass(day)
      const third = await taken()
      assert.deepEqual(await lying(), [third])

      const died = toVaultName(`points/${third}.00000000.held`)
      await room.vault.create(died, Buffer.from('{}'))
      await catalog.pass(day)
      const last = await taken()
      assert.deepEqual(await lying(), [last])
      assert.deepEqual(globSync(join(folder, 'points/*.held')), [])
    })

    it('that somebody began to read as it was taken out keeps what it names for them', async () => {
      const [unnamed, room] = [join(folder, `data/00/${'0'.repeat(64)}.blob`), await roomOf(url)]
      await mkdir(join(folder, 'data/00'), { recursive: true })
      await writeFile(unnamed, 'named by what was taken out')
      const reader = await holdPoint(room.vault, crypto.randomUUID(), assert.fail)
      await catalog.pass(2 * day)
      const now = new Date(catalog.service.clock.now())
      for (const path of globSync(join(folder, 'points/*.held'))) await utimes(path, now, now)
      await taken()
      assert.deepEqual(globSync(unnamed), [unnamed])
      await reader[Symbol.asyncDispose]()
      await catalog.pass(2 * day)
      await taken()
      assert.deepEqual(globSync(unnamed), [])
    })

    it('can be read where the vault takes no word of that', async () => {
      const id = await taken()
      const room = await roomOf(url)
      const readOnly: Room = {
        ...room,
        vault: {
          ...room.vault,
          async create() {
            throw new VaultFailure('denied', room.vault.where, 'it is read-only')
          },
        },
      }
      assert.equal(await withPoint(readOnly, 'latest', null, async (manifest) => manifest.id), id)
    })

    it('can be taken by the same agent once the disk of the vault was replaced', async () => {
      await withAgent(catalog.service, url, async (agent, { database, clock }) => {
        const ended = async (): Promise<string> => {
          const { id } = await requestCapture({ database, clock }, { by: 'test', key: crypto.randomUUID() })
          await agent.look()
          return (await get('jobs')).items.find((job: { id: string }) => job.id === id).state
        }
        assert.equal(await ended(), 'completed')
        await rm(folder, { recursive: true })
        await mkdir(folder)
        assert.equal(await ended(), 'completed')
      })
    })

    it('of the plan that was not taken is tried again within the hour, and not without an end', async () => {
      await keep(7, true)
      await catalog.pass(day)
      const room = await roomOf(url)
      let away = true
      const failing: Room = {
        ...room,
        vault: {
          ...room.vault,
          async create(...args) {
            if (away) throw new VaultFailure('unreachable', room.vault.where, 'as the test says')
            return await room.vault.create(...args)
          },
        },
      }
      const states = async (): Promise<string[]> =>
        (await get('jobs')).items
          .filter(
            ({ kind, startedAt }: { kind: string; startedAt: string }) => kind === 'capture' && startedAt >= begun,
          )
          .map(({ state }: { state: string }) => state)
      const begun = timestamp(catalog.service.clock.now())
      await withAgent(
        catalog.service,
        url,
        async (agent) => {
          await agent.look()
          await agent.look()
          assert.deepEqual(await states(), ['failed'])
          away = false
          catalog.service.clock.advance(31 * minute)
          await agent.look()
          assert.deepEqual(await states(), ['completed', 'failed'])
          catalog.service.clock.advance(31 * minute)
          await agent.look()
          assert.deepEqual(await states(), ['completed', 'failed'])
        },
        undefined,
        failing,
      )
    })

    it('is known by what the points say where the vault has lost its name, which it gets again', async () => {
      await keep(7)
      const first = await taken()
      await put(`points/${first}/pin`, { pinned: true })
      const name = join(folder, 'vault.json')
      const before = await readFile(name)
      await rm(name)
      await catalog.pass(day)
      const second = await taken()
      assert.deepEqual(await readFile(name), before)
      const told = (await points()).map(({ id, pinned }: { id: string; pinned: boolean }) => [id, pinned])
      assert.deepEqual(told, [
        [second, false],
        [first, true],
      ])
      await rm(name)
      await restored()
    })

    it('is taken in time, and kept, although the clock was ahead once, which is told of as long as it matters', async () => {
      await keepFew()
      const before = await taken()
      catalog.service.clock.advance(400 * day)
      const ahead = await taken()
      catalog.service.clock.advance(-400 * day)
      const codes = async (): Promise<string[]> =>
        (await get('status')).warnings.map(({ code }: { code: string }) => code)
      assert.equal((await get('status')).agent.online, false)
      assert.ok((await codes()).includes('backup_stale'))
      await catalog.pass(day)
      const after = await taken()
      assert.deepEqual(
        (await codes()).filter((code) => ['agent_offline', 'backup_stale'].includes(code)),
        [],
      )
      // The one of the wrong clock is not the newest, and takes the place of none.
      assert.equal((await lying()).includes(before), false)
      assert.deepEqual(await lying(), [ahead, after].sort())
      await catalog.pass(day)
      await taken()
      assert.equal((await get('jobs')).items.filter(({ state }: { state: string }) => state === 'failed').length, 0)
    })

    it('that says something else of a file than another one is not believed for it', async () => {
      const room = await roomOf(url)
      const first = await findPointFor(room, await taken())
      const [pack = ''] = files('pack')
      const torn = (await readFile(pack)).subarray(0, 5)
      await writeFile(pack, torn)
      const second: Manifest = { ...first, id: crypto.randomUUID() }
      const lists = new ChunkWriter(
        room,
        { kind: 'list', readers: 'service' },
        { before: new Map(), isDamaged: () => false, firstTry: () => 0 },
      )
      for await (const entry of contentsOf(room, first.contents)) {
        const stored = { ...entry.stored, bytes: torn.byteLength, sha256: toSha256(digestOf(torn)) }
        await lists.add(entryText({ ...entry, stored }))
      }
      await lists.end()
      const { digest: _, ...content } = { ...second, contents: lists.chunks }
      await room.vault.create(pointName(second.id), Buffer.from(manifestText(content)))
      const deps = { room, pace: async () => {}, goOn: () => {}, told: () => {} }
      const faulty = new Set<string>()
      for (let share = 0; share < deepShares; share++)
        for (const id of (await verifyShare(deps, [second.id, first.id], share)).faulty.keys()) faulty.add(id)
      assert.deepEqual([...faulty].sort(), [first.id, second.id].sort())
    })
  })
})
