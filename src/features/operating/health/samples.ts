import type { Database } from '../../../database/database.ts'
import type { ServiceSamplesTable } from '../../../database/tables/samples.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import {
  samplesToldMax,
  serviceDaysMax,
  serviceFineDaysMax,
  serviceSampleEveryMs,
  serviceSamplesKeptMs,
} from '../../../kernel/limits/samples.ts'
import { day } from '../../../kernel/units.ts'
import { figures } from './overview.ts'
import { hasSample, insertSample, samplesFrom } from './samples.queries.ts'

export interface ServiceSampleDeps {
  readonly database: Database
  readonly clock: Clock
}

/** Writes down every ten minutes what the service holds and has to do; a month of it is kept. */
export const sampleService = async (deps: ServiceSampleDeps): Promise<void> => {
  const now = deps.clock.now()
  const taken_at = timestamp(now - (now % serviceSampleEveryMs))
  if (await hasSample(deps.database.reader, taken_at)) return
  const row = {
    taken_at,
    published_bytes: await figures.publishedBytes(deps),
    reserved_bytes: await figures.reservedBytes(deps),
    open_sessions: await figures.openSessions(deps),
    open_jobs: await figures.openJobs(deps),
  }
  await deps.database.transaction((tx) => insertSample(tx, row, timestamp(now - serviceSamplesKeptMs)))
}

/** The last of each hour. */
const hourly = (rows: readonly ServiceSamplesTable[]): ServiceSamplesTable[] => [
  ...new Map(rows.map((row) => [row.taken_at.slice(0, 13), row])).values(),
]

/** What was sampled in the last days: as it was, or, where these are many, hour by hour. */
export const serviceSamples = async ({ database, clock }: ServiceSampleDeps, days: number) => {
  const most = (serviceDaysMax * day) / serviceSampleEveryMs
  const rows = await samplesFrom(database.reader, timestamp(clock.now() - days * day), most)
  const told = days > serviceFineDaysMax ? hourly(rows) : rows
  return {
    items: told.slice(-samplesToldMax).map((row) => ({
      takenAt: row.taken_at,
      publishedBytes: String(row.published_bytes),
      reservedBytes: String(row.reserved_bytes),
      openUploadSessions: row.open_sessions,
      openJobs: row.open_jobs,
    })),
  }
}
