import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { addFileKeys } from '../harness/file-keys.ts'
import { createOwner, createPerson, grant, type Person } from '../harness/people.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

after(closeConnections)

/** What tells of all that is stored, whoever may see it. */
const ofCatalog = [
  'svc_backup_agent_online',
  'svc_backup_point_bytes',
  'svc_backup_point_timestamp_seconds',
  'svc_backup_proven_timestamp_seconds',
  'svc_backup_rehearsal_failed',
  'svc_backup_vault_free_bytes',
  'svc_backup_warning',
  'svc_backup_warnings',
  'svc_disk_free_bytes',
  'svc_jobs_failed',
  'svc_jobs_open',
  'svc_published_bytes',
  'svc_quarantine_age_seconds',
  'svc_quarantine_blobs',
  'svc_quarantine_bytes',
  'svc_reclaim_blobs_total',
  'svc_reclaim_bytes_total',
  'svc_reclaim_queue_length',
  'svc_reclaim_removals',
  'svc_reserved_bytes',
  'svc_upload_sessions_open',
  'svc_webhook_behind',
  'svc_webhook_failing',
  'svc_webhook_last_success_timestamp_seconds',
  'svc_webhook_lost_events',
  'svc_webhook_position',
]

forEachEngine((engine) => {
  describe('metrics', () => {
    let service: TestService
    let owner: Person
    let bob: Person
    let keys: Record<string, string>
    before(async () => {
      service = await startService(engine, { onDisk: true })
      owner = await createOwner(service)
      bob = await createPerson(service, 'bob')
      await grant(service, bob, 'releases', 'read')
      keys = await addFileKeys(service, [
        { id: 'monitor' },
        { id: 'reading', repositories: [{ repository: 'releases', permissions: ['read'] }] },
        { id: 'ops', administrator: true, repositories: [{ repository: 'releases', permissions: ['read'] }] },
      ])
      const path = '/api/v1/repositories/releases/raw/a'
      const credential = service.recoveryKey
      const { status } = await service.ask({ method: 'PUT', path, credential, body: Buffer.alloc(31_337) })
      assert.equal(status, 201)
    })
    after(() => service.stop())

    const metrics = async (credential: string | undefined): Promise<string> => {
      assert.ok(credential !== undefined)
      const { status, text } = await service.ask({ path: '/health/metrics', credential })
      assert.equal(status, 200)
      return text
    }
    const named = (text: string): string[] => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name).sort()

    it('tell administrators, and keys that are for health alone, of all that is stored', async () => {
      for (const credential of [service.recoveryKey, service.healthKey, owner.token, keys['monitor'], keys['ops']]) {
        const text = await metrics(credential)
        assert.match(text, /^svc_published_bytes 31337$/m)
        const told = named(text)
        assert.deepEqual(
          ofCatalog.filter((name) => !told.includes(name)),
          [],
        )
      }
    })

    it('tell whoever else has a credential everything but that', async () => {
      const bindings = [binding('releases', 'asset.read', 'storage.read')]
      const account = await createServiceAccount(service, bindings)
      const { secret } = await activeKey(service, account.id, { bindings })
      const all = named(await metrics(service.healthKey))
      for (const credential of [bob.token, keys['reading'], secret])
        assert.deepEqual(
          named(await metrics(credential)),
          all.filter((name) => !ofCatalog.includes(name)),
        )
    })
  })
})
