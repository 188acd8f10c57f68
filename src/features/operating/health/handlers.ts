import type { SharedSlotsState } from '../../../content/admission/shared-slots.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { Failure } from '../../../kernel/failure.ts'
import { serviceDaysDefault } from '../../../kernel/limits/samples.ts'
import * as operations from './operations.ts'
import { figures, ifPossible, type OverviewDeps } from './overview.ts'
import type { Readiness } from './readiness.ts'
import { serviceSamples } from './samples.ts'
import { type TransfersNow, transfersView } from './transfers.ts'

export interface HealthHandlerDeps extends OverviewDeps {
  readonly version: string
  readonly startedAt: string
  readonly storeKind: 'directory' | 's3'
  readonly capacityBytes: number
  readonly freeSpaceReserveBytes: number
  readonly role: 'api' | 'reader'
  readonly readiness: Readiness
  readonly sharedDownloads: () => SharedSlotsState | null
  /** Of all processes that share the port. */
  readonly transfers: () => Promise<TransfersNow>
  /** Prometheus text, with what tells sizes and counts of all that is stored, or without. */
  readonly metrics: (withCatalog: boolean) => Promise<string>
}

/** Administrators, and keys of the file that are for health alone. Others may see but a part of what is stored. */
const mayKnowTotals = (caller: Caller): boolean =>
  caller.administrator || (caller.kind === 'file-key' && caller.repositories.size === 0)

/** Why requests cannot be served now; null where they can. */
const trouble = async ({ readiness }: HealthHandlerDeps): Promise<string | null> => {
  try {
    await readiness.refuseUnlessReady()
    return null
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}

const decimal = (bytes: number | null): string | null => (bytes === null ? null : String(bytes))

const overview = async (deps: HealthHandlerDeps) => {
  const { role, version, startedAt, storeKind, database, freeSpace, capacityBytes, freeSpaceReserveBytes } = deps
  const reason = await trouble(deps)
  const now = await deps.transfers()
  const runs = await ifPossible(figures.upkeep(deps))
  return {
    version,
    startedAt,
    role,
    processes: now.processes,
    database: database.engine,
    store: storeKind,
    ready: reason === null,
    reason,
    writable: role === 'api' && ((await ifPossible(freeSpace.writable())) ?? false),
    space: {
      publishedBytes: decimal(await ifPossible(figures.publishedBytes(deps))),
      reservedBytes: decimal(await ifPossible(figures.reservedBytes(deps))),
      capacityBytes: String(capacityBytes),
      freeBytes: decimal(await ifPossible(figures.freeBytes(deps))),
      reserveBytes: String(freeSpaceReserveBytes),
    },
    transfers: transfersView(now),
    openUploadSessions: await ifPossible(figures.openSessions(deps)),
    jobs: {
      open: await ifPossible(figures.openJobs(deps)),
      failedWithinADay: await ifPossible(figures.failedJobs(deps)),
    },
    upkeep: runs?.map(({ name, succeeded_at }) => ({ name, succeededAt: succeeded_at })) ?? null,
  }
}

export const healthHandlers = (deps: HealthHandlerDeps): BoundOperation[] => [
  handle(operations.getLiveness, async () => ({ status: 200, json: { status: 'ok' as const } })),
  handle(operations.getHealthStatus, async () => {
    try {
      await deps.readiness.refuseUnlessReady()
      return { status: 200 as const, json: { status: 'ready' as const } }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const status = error.code === 'draining' ? ('draining' as const) : ('unavailable' as const)
      return {
        status: 503 as const,
        headers: { 'retry-after': String(error.retryAfterSeconds ?? 1) },
        json: { status },
      }
    }
  }),
  handle(operations.getReadiness, async () => {
    await deps.readiness.refuseUnlessReady()
    return {
      status: 200,
      json: {
        role: deps.role,
        status: 'ready' as const,
        writable: deps.role === 'api' && (await deps.freeSpace.writable()),
        sharedDownloads: deps.sharedDownloads(),
        transfers: transfersView(await deps.transfers()),
      },
    }
  }),
  handle(operations.listServiceSamples, async ({ query }) => ({
    status: 200,
    json: await serviceSamples(deps, query.days ?? serviceDaysDefault),
  })),
  handle(operations.getOverview, async () => ({ status: 200, json: await overview(deps) })),
  handle(operations.getMetrics, async ({ caller }) => ({
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4' },
    text: await deps.metrics(mayKnowTotals(caller)),
  })),
]
