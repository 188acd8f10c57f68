import type { Database } from '../../../database/database.ts'
import type { UsageSamplesTable } from '../../../database/tables/samples.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import {
  samplesForgottenAtOnce,
  samplesToldMax,
  usageDaysMax,
  usageHourlyDaysMax,
  usageSampleBatch,
  usageSampleEveryMs,
  usageSamplesKeptMs,
} from '../../../kernel/limits/samples.ts'
import { day } from '../../../kernel/units.ts'
import { forgetSamples, insertSamples, repositoriesWithLast, samplesAt, samplesFrom } from './samples.queries.ts'

export interface SampleDeps {
  readonly database: Database
  readonly clock: Clock
}

type Sizes = Omit<UsageSamplesTable, 'repository' | 'taken_at'>

const same = (one: Sizes | undefined, other: Sizes): boolean =>
  one !== undefined &&
  one.published_bytes === other.published_bytes &&
  one.pending_bytes === other.pending_bytes &&
  one.retired_bytes === other.retired_bytes &&
  one.quota_bytes === other.quota_bytes

/**
 * Writes down how full each repository is, once an hour and only where it is another than before, and forgets what is
 * older than a good year. However many processes do it: the hour is part of the key.
 */
export const sampleUsage = async ({ database, clock }: SampleDeps, stopping: () => boolean): Promise<void> => {
  const now = clock.now()
  const taken_at = timestamp(now - (now % usageSampleEveryMs))
  for (let after = ''; !stopping(); ) {
    const found = await repositoriesWithLast(database.reader, after, usageSampleBatch)
    const moments = found.flatMap(({ id, last_at }) => (last_at === null ? [] : [{ repository: id, takenAt: last_at }]))
    const last = new Map(
      (moments.length === 0 ? [] : await samplesAt(database.reader, moments)).map((row) => [row.repository, row]),
    )
    const rows = found
      .filter((row) => row.last_at !== taken_at && !same(last.get(row.id), row))
      .map(({ id, published_bytes, pending_bytes, retired_bytes, quota_bytes }) => ({
        ...{ repository: id, taken_at, published_bytes, pending_bytes, retired_bytes, quota_bytes },
      }))
    if (rows.length > 0) await database.transaction((tx) => insertSamples(tx, rows))
    if (found.length < usageSampleBatch) break
    after = found.at(-1)?.id ?? ''
  }
  const old = timestamp(now - usageSamplesKeptMs)
  while (!stopping())
    if ((await database.transaction((tx) => forgetSamples(tx, old, samplesForgottenAtOnce))) === 0) break
}

/** The last of each day. */
const daily = (rows: readonly UsageSamplesTable[]): UsageSamplesTable[] => [
  ...new Map(rows.map((row) => [row.taken_at.slice(0, 10), row])).values(),
]

/** How full a repository was in the last days: hour by hour, or, where these are many, day by day. */
export const usageSamples = async ({ database, clock }: SampleDeps, repository: string, days: number) => {
  const from = timestamp(clock.now() - days * day)
  const rows = await samplesFrom(database.reader, repository, from, usageDaysMax * 24)
  const told = days > usageHourlyDaysMax ? daily(rows) : rows
  return {
    items: told.slice(-samplesToldMax).map((row) => ({
      takenAt: row.taken_at,
      publishedBytes: String(row.published_bytes),
      pendingBytes: String(row.pending_bytes),
      retiredBytes: String(row.retired_bytes),
      quotaBytes: row.quota_bytes === null ? null : String(row.quota_bytes),
    })),
  }
}
