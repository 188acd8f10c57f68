import type { Database, Transaction } from '../../../database/database.ts'
import { appendStorageEvent } from '../../../journal/storage-events/storage-events.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import type { StorageEventLevel } from '../../../kernel/journal-words.ts'
import { upkeepBatch } from '../../../kernel/limits/upkeep.ts'
import { upkeepRun } from '../../../kernel/one-by-one.ts'
import { type UsageState, usageState } from '../../../kernel/usage-state.ts'
import { lockQuotaRow, type QuotaRow, quotaRowsAfter, updateQuota } from './policy.queries.ts'

const levelOf: Readonly<Record<UsageState, StorageEventLevel>> = {
  unlimited: 'info',
  normal: 'info',
  warning: 'warning',
  critical: 'warning',
  exceeded: 'error',
}

const reservedIn = (row: QuotaRow): number => row.published_bytes + row.pending_bytes + row.retired_bytes

const stateOf = (row: QuotaRow): UsageState =>
  usageState(reservedIn(row), row.quota_bytes, {
    warningPercent: row.warning_percent,
    criticalPercent: row.critical_percent,
  })

/** Tells of usage that has another name than when it was last told of. The row is locked. */
export const tellOfUsage = async (tx: Transaction, row: QuotaRow, now: string): Promise<void> => {
  const state = stateOf(row)
  if (state === row.told_usage) return
  await updateQuota(tx, row.id, { told_usage: state })
  await appendStorageEvent(tx, {
    repository: row.id,
    level: levelOf[state],
    code: 'quota.changed',
    details: {
      from: row.told_usage,
      to: state,
      reservedBytes: String(reservedIn(row)),
      ...(row.quota_bytes === null ? {} : { quotaBytes: String(row.quota_bytes) }),
    },
    occurredAt: now,
  })
}

/**
 * Looks through the repositories for usage that has another name than was told. By the clock and not with every byte,
 * so that uploads pay nothing for it, and usage that goes back and forth around a threshold fills no events.
 */
export const watchQuotas = async ({
  database,
  clock,
  report,
}: {
  readonly database: Database
  readonly clock: Clock
  readonly report: (message: string, error: unknown) => void
}): Promise<void> => {
  const run = upkeepRun(report)
  for (let after = ''; ; ) {
    const rows = await quotaRowsAfter(database.reader, after, upkeepBatch)
    for (const row of rows)
      if (stateOf(row) !== row.told_usage)
        await run.attempt(`telling of the usage of ${row.id}`, () =>
          database.transaction(async (tx) => {
            const locked = await lockQuotaRow(tx, row.id)
            if (locked !== undefined) await tellOfUsage(tx, locked, timestamp(clock.now()))
          }),
        )
    const last = rows.at(-1)
    if (last === undefined || rows.length < upkeepBatch) break
    after = last.id
  }
  run.end()
}
