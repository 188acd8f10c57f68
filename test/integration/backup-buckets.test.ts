import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import {
  DeleteObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { openVaultS3 } from '../../src/adapters/blob-s3/vault-s3.ts'
import type { BackupAgent } from '../../src/features/operating/backups/agent.ts'
import { plainCoding } from '../../src/features/operating/backups/coding.ts'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import { day, minute } from '../../src/kernel/units.ts'
import { manifestsIn, restoreTo, takePoint, withAgent } from '../harness/backups.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import {
  errorBody,
  type Fault,
  type FaultyProxy,
  listingPage,
  type Seen,
  startFaultyProxy,
} from '../harness/faulty-proxy.ts'
import { inTheStore } from '../harness/kept-inline.ts'
import { placeLike } from '../harness/moving.ts'
import { createBucket, type TestBucket } from '../harness/object-store.ts'
import { objectStoreUrl, stopOwnObjectStore } from '../harness/shared-object-store.ts'

/** A store that says nothing is not waited for as long as in life. */
const hasty = { answerMs: 2_000, idleMs: 1_500, workMs: 3_000, pauseFirstMs: 10 }

after(closeConnections)

onSqlite((engine) => {
  describe('the bucket that backups go to', () => {
    let proxy: FaultyProxy
    let bucket: TestBucket
    let catalog: Catalog
    let store: S3Client
    let room: Room
    let prefix = 0

    before(async () => {
      proxy = await startFaultyProxy(await objectStoreUrl())
      bucket = await createBucket(proxy.url)
      Object.assign(process.env, bucket.credentials)
      const { endpoint, region } = bucket.place
      store = new S3Client({ endpoint, region, forcePathStyle: true })
      catalog = await Catalog.open(engine, { ...inTheStore, SVC_BACKUP_VAULT: 's3://configured/vault' })
      await catalog.published(randomBytes(2_000_000))
      await catalog.published('small')
    })
    after(async () => {
      await catalog.close()
      store.destroy()
      await proxy.close()
      await stopOwnObjectStore()
    })
    beforeEach(async () => {
      room = roomAt(`vault-${++prefix}/`)
      await catalog.pass(day)
    })
    afterEach(() => {
      proxy.fault = () => null
    })

    const roomAt = (at: string): Room => ({
      vault: openVaultS3({ ...bucket.place, prefix: at }, hasty),
      coding: plainCoding,
    })
    /** What a service says that came from a point there. */
    const restored = async (point = 'latest'): Promise<void> => {
      const place = engine.use(await placeLike(catalog.service, engine))
      const { findings } = await restoreTo(place, '', point, {}, undefined, room)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
    }
    const ends = async (state: string, error: string | null): Promise<void> => {
      const job = await takePoint(catalog.service, '', undefined, room)
      assert.deepEqual([job.state, job.error_code], [state, error])
    }
    const taken = () => ends('completed', null)
    const look = () => withAgent(catalog.service, '', (agent) => agent.look(), undefined, room)
    const get = async (path: string) =>
      (await catalog.service.ask({ path: `/api/v1/backup/${path}`, credential: catalog.service.recoveryKey })).json
    const points = async () => (await get('points')).items
    const warnings = async (): Promise<string[]> =>
      (await get('status')).warnings.map(({ code }: { code: string }) => code)
    const newest = 0
    const verified = async (): Promise<[string, string | null]> => {
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const path = `/api/v1/backup/points/${(await points()).at(newest).id}/verify`
      const asked = { method: 'POST', path, credential: catalog.service.recoveryKey, headers }
      await expectAnswer(catalog.service, asked, 202)
      await look()
      const { verifyDepth, verifyError } = (await points()).at(newest)
      return [verifyDepth, verifyError]
    }
    const fault = (matches: (seen: Seen) => boolean, what: Fault): void => {
      proxy.fault = (seen) => (matches(seen) ? what : null)
    }
    const refused = { kind: 'answer', status: 403, body: errorBody('AccessDenied') } as const
    const busy = { kind: 'answer', status: 503, body: errorBody('SlowDown') } as const
    const isPut = ({ method }: Seen): boolean => method === 'PUT' || method === 'POST'
    const isRemoval = ({ method }: Seen): boolean => method === 'DELETE'
    const keys = async (of: string): Promise<string[]> => {
      const asked = new ListObjectsV2Command({ Bucket: bucket.place.bucket, Prefix: `vault-${prefix}/` })
      return ((await store.send(asked)).Contents ?? []).flatMap(({ Key }) => (Key?.includes(of) ? [Key] : []))
    }

    it('that is slow has its point in the end', async () => {
      fault(() => true, { kind: 'delay', ms: 30 })
      await taken()
      await restored()
    })

    it('that is busy now and then has its point; one that stays busy warns, has what it had, and goes on later', async () => {
      let seen = 0
      proxy.fault = () => (++seen % 4 === 0 ? busy : null)
      await taken()
      await catalog.published(randomBytes(2_000_000))
      fault(isPut, busy)
      await ends('failed', 'vault_unreachable')
      assert.ok((await warnings()).includes('last_run_failed'))
      fault(() => true, busy)
      await catalog.pass(2 * minute)
      await look()
      assert.ok((await warnings()).includes('vault_unavailable'))
      proxy.fault = () => null
      await restored()
      await taken()
      assert.deepEqual(
        (await warnings()).filter((code) => code !== 'schedule_disabled' && code !== 'never_deep_verified'),
        [],
      )
      await restored()
    })

    it('that loses a large file on its way has nothing under its name, and all of it once it was sent again', async () => {
      await taken()
      const before = (await keys('.blob')).length
      await catalog.published(randomBytes(20_000_000))
      for (const torn of [
        ({ method, target }: Seen) => method === 'PUT' && target.includes('partNumber=2'),
        ({ method, target }: Seen) => method === 'POST' && target.includes('uploadId='),
      ]) {
        fault(torn, { kind: 'silence' })
        await ends('failed', 'vault_unreachable')
        assert.equal((await keys('.blob')).length, before)
      }
      // Done, and nobody was told.
      let lost = 0
      proxy.fault = (seen) =>
        seen.method === 'POST' && /[?&]uploadId=/.test(seen.target) && lost++ === 0 ? { kind: 'lose' } : null
      await taken()
      assert.ok(lost > 0)
      assert.deepEqual(await verified(), ['deep', null])
      await restored()
    })

    it('in which something is missing or changed is told of once it was read, and gets it again with the next point', async () => {
      const Bucket = bucket.place.bucket
      for (const [spoil, error] of [
        [(Key: string) => store.send(new DeleteObjectCommand({ Bucket, Key })), 'missing'],
        [(Key: string) => store.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(2_000_000) })), 'damaged'],
      ] as const) {
        await taken()
        assert.deepEqual(await verified(), ['deep', null])
        const [key = ''] = await keys('.blob')
        await spoil(key)
        assert.deepEqual(await verified(), ['deep', error])
        assert.ok((await warnings()).includes('verify_failed'))
        await catalog.pass(day)
        await taken()
        assert.deepEqual(await verified(), ['deep', null])
        await restored()
        room = roomAt(`vault-${++prefix}/`)
        await catalog.pass(day)
      }
    })

    it('that was replaced shows its own points, and those of before when it is put back', async () => {
      await taken()
      const own = (await points()).map(({ id }: { id: string }) => id)
      const [was, other] = [room, roomAt(`vault-${++prefix}/`)]
      room = other
      await catalog.pass(day)
      await look()
      assert.deepEqual(await points(), [])
      assert.ok((await warnings()).includes('no_backup_yet'))
      await taken()
      room = was
      await catalog.pass(day)
      await look()
      assert.deepEqual(
        (await points()).map(({ id }: { id: string }) => id),
        own,
      )
    })

    it('that may not be written to any more warns, and is restored from', async () => {
      await taken()
      await catalog.pass(day)
      fault((seen) => isPut(seen) || isRemoval(seen), refused)
      await ends('failed', 'vault_denied')
      assert.ok((await warnings()).includes('last_run_failed'))
      assert.equal((await points()).length, 1)
      await restored()
    })

    it('that lets nothing be removed keeps what was to go, shows it to nobody, and lets it go later', async () => {
      await taken()
      const [point] = await points()
      await catalog.pass(2 * day)
      await catalog.published('another day')
      fault(isRemoval, refused)
      await taken()
      const asked = { method: 'DELETE', path: `/api/v1/backup/points/${point.id}`, json: { confirm: point.snapshotAt } }
      await expectAnswer(catalog.service, { ...asked, credential: catalog.service.recoveryKey }, 204)
      await look()
      const [told] = (await get('jobs')).items
      assert.deepEqual([told.kind, told.state], ['retention', 'completed'])
      assert.deepEqual([(await points()).length, (await manifestsIn(room)).length], [1, 2])
      proxy.fault = () => null
      await catalog.pass(2 * day)
      await look()
      assert.equal((await manifestsIn(room)).length, 1)
      await restored()
    })

    it('with object lock has points taken, given up and cleared away, and nobody can take from it what they named', async () => {
      const { place } = await createBucket(proxy.url, { locked: true })
      const Bucket = place.bucket
      const DefaultRetention = { Mode: 'COMPLIANCE', Days: 1 } as const
      const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention } } as const
      await store.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }))
      room = { vault: openVaultS3({ ...place, prefix: 'vault/' }, hasty), coding: plainCoding }
      await taken()
      const [point] = await points()
      await catalog.pass(2 * day)
      await catalog.published('beside what is locked')
      await taken()
      const asked = { method: 'DELETE', path: `/api/v1/backup/points/${point.id}`, json: { confirm: point.snapshotAt } }
      await expectAnswer(catalog.service, { ...asked, credential: catalog.service.recoveryKey }, 204)
      await look()
      const [told] = (await get('jobs')).items
      assert.deepEqual([told.kind, told.state, (await manifestsIn(room)).length], ['retention', 'completed', 1])
      assert.deepEqual(await verified(), ['deep', null])
      await restored()
      const { Versions = [] } = await store.send(new ListObjectVersionsCommand({ Bucket }))
      const gone = Versions.filter(({ Key }) => Key?.includes(point.id))
      assert.equal(gone.length, 1)
      for (const { Key, VersionId } of [...gone, ...Versions.slice(0, 5)])
        await assert.rejects(store.send(new DeleteObjectCommand({ Bucket, Key, VersionId })), /AccessDenied|denied/i)
    })

    it('in which a manifest comes late, when what it names is gone, has it told of as damaged', async () => {
      await taken()
      const [first] = await points()
      await catalog.pass(day)
      fault(({ method, target }) => method === 'PUT' && target.includes('/points/'), { kind: 'hold' })
      await ends('failed', 'vault_unreachable')
      const [late] = await proxy.holds()
      proxy.fault = () => null
      // Nobody else names the files any more, and they are old.
      const asked = { method: 'DELETE', path: `/api/v1/backup/points/${first.id}`, json: { confirm: first.snapshotAt } }
      await expectAnswer(catalog.service, { ...asked, credential: catalog.service.recoveryKey }, 204)
      await catalog.pass(2 * day)
      await look()
      assert.deepEqual(await keys('.blob'), [])
      assert.equal((await late?.apply())?.status, 200)
      await look()
      const [found] = await points()
      assert.deepEqual([found.pinned, found.verifyError], [false, 'missing'])
      assert.ok((await warnings()).includes('verify_failed'))
      await assert.rejects(restored(), /is missing/)
      await catalog.pass(day)
      await taken()
      await restored()
    })

    it('in which a removal comes late hits nothing that was written since', async () => {
      await taken()
      const [first] = await points()
      const asked = { method: 'DELETE', path: `/api/v1/backup/points/${first.id}`, json: { confirm: first.snapshotAt } }
      await expectAnswer(catalog.service, { ...asked, credential: catalog.service.recoveryKey }, 204)
      await catalog.pass(2 * day)
      fault((seen) => isRemoval(seen) && seen.target.includes('.blob'), { kind: 'hold' })
      await look()
      const late = (await proxy.holds()).at(-1)
      proxy.fault = () => null
      await catalog.pass(day)
      await taken()
      const before = await keys('.blob')
      assert.equal((await late?.apply())?.status, 204)
      assert.deepEqual(await keys('.blob'), before)
      assert.deepEqual(await verified(), ['deep', null])
      await restored()
    })

    it('that fails in a way that nobody knows is told of as unavailable, and asked again in a minute', async () => {
      await taken()
      let asked = 0
      const strange: Room = {
        ...room,
        vault: {
          ...room.vault,
          async space() {
            asked += 1
            throw new TypeError('as the test says')
          },
        },
      }
      const lookTwice = async (agent: BackupAgent): Promise<void> => {
        await agent.look()
        await agent.look()
      }
      await withAgent(catalog.service, '', lookTwice, undefined, strange)
      assert.equal(asked, 1)
      assert.ok((await warnings()).includes('vault_unavailable'))
    })

    it('whose listing has no end is told of, and works again once it has one', async () => {
      await taken()
      const endless = (folder: string): void => {
        let pages = 0
        const within = `prefix=${encodeURIComponent(`vault-${prefix}/${folder}`)}`
        proxy.fault = ({ target }) =>
          target.includes('list-type=2') && target.includes(within)
            ? { kind: 'answer', status: 200, body: listingPage([`vault-${prefix}/${folder}/x`], `page-${++pages}`) }
            : null
      }
      await catalog.pass(day)
      await catalog.published(randomBytes(2_000_000))
      endless('data')
      await ends('failed', 'vault_unreachable')
      assert.ok((await warnings()).includes('last_run_failed'))
      await catalog.pass(2 * minute)
      endless('points')
      await look()
      assert.ok((await warnings()).includes('vault_unavailable'))
      proxy.fault = () => null
      await taken()
      assert.ok(!(await warnings()).includes('vault_unavailable'))
      await restored()
    })
  })
})
