import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { timestamp } from '../../../kernel/clock.ts'
import { day, GiB, hour } from '../../../kernel/units.ts'
import { warningsOf } from './status.ts'

const nowMs = Date.parse('2026-05-01T12:00:00Z')
const point = {
  id: 'p',
  vault_id: 'v',
  snapshot_at: timestamp(nowMs - hour),
  completed_at: timestamp(nowMs - hour),
  blobs: 1,
  content_bytes: 1,
  new_bytes: 1,
  table_count: 1,
  row_count: 1,
  pinned: 0,
  verified_at: timestamp(nowMs),
  verify_depth: 'deep',
  verify_error: null,
  forgotten_at: null,
  found_at: null,
  missing_since: null,
} as const
const agent = {
  id: 1,
  holder: 'h',
  lease_until: '',
  last_seen_at: '',
  version: '1',
  vault_id: 'v',
  vault_available: 1,
  encrypted: 0,
  free_bytes: 500 * GiB,
  total_bytes: 1_000 * GiB,
} as const
const job = {
  id: 'j',
  kind: 'capture',
  state: 'completed',
  phase: null,
  requested_at: '',
  started_at: null,
  finished_at: '',
  error_code: null,
  point_id: 'p',
  bytes_copied: 0,
  bytes_total: 0,
  blobs_copied: 0,
  blobs_total: 0,
  requested_by: null,
  idempotency_key: null,
} as const
const good = {
  configured: true,
  online: true,
  available: true,
  enabled: true,
  points: [point],
  agent,
  lastCapture: job,
  lastRetention: null,
  nowMs,
}

describe('warnings of backups', () => {
  const codes = (change: Partial<Parameters<typeof warningsOf>[0]>): string[] =>
    warningsOf({ ...good, ...change }).map(({ code }) => code)

  it('are none where all is well', () => {
    assert.deepEqual(codes({}), [])
  })

  it('tell each of the things that need a person', () => {
    assert.deepEqual(codes({ configured: false, online: false, points: [] }), ['vault_not_configured'])
    assert.deepEqual(codes({ online: false, available: false }), ['agent_offline'])
    assert.deepEqual(codes({ available: false }), ['vault_unavailable'])
    assert.deepEqual(codes({ enabled: false }), ['schedule_disabled'])
    assert.deepEqual(codes({ points: [] }), ['no_backup_yet'])
    assert.deepEqual(codes({ points: [{ ...point, snapshot_at: timestamp(nowMs - 2 * day) }] }), ['backup_stale'])
    for (const state of ['failed', 'interrupted'] as const)
      assert.deepEqual(codes({ lastCapture: { ...job, state } }), ['last_run_failed'])
    assert.deepEqual(codes({ agent: { ...agent, free_bytes: 99 * GiB } }), ['vault_low_space'])
    assert.deepEqual(codes({ agent: { ...agent, free_bytes: null, total_bytes: null } }), [])
    assert.deepEqual(codes({ points: [{ ...point, verify_depth: 'structural' }] }), ['never_deep_verified'])
    assert.deepEqual(codes({ points: [point, { ...point, verify_error: 'damaged' }] }), ['verify_failed'])
    assert.deepEqual(codes({ points: [point, { ...point, missing_since: timestamp(nowMs) }] }), ['verify_failed'])
    assert.deepEqual(codes({ points: [{ ...point, missing_since: timestamp(nowMs) }] }), [
      'no_backup_yet',
      'verify_failed',
    ])
    const stopped = { ...job, kind: 'retention', state: 'failed' } as const
    assert.deepEqual(codes({ lastRetention: { ...stopped, error_code: 'point_damaged' } }), ['verify_failed'])
    assert.deepEqual(codes({ lastRetention: { ...stopped, error_code: 'vault_unreachable' } }), [])
  })
})
