import type { AdmissionState } from '../../../content/admission/admission.ts'
import type { SharedSlotsState } from '../../../content/admission/shared-slots.ts'
import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { Failure } from '../../../kernel/failure.ts'
import * as operations from './operations.ts'
import type { Readiness } from './readiness.ts'

export interface HealthHandlerDeps {
  readonly role: 'api' | 'reader'
  readonly readiness: Readiness
  readonly freeSpace: FreeSpace
  readonly downloads: () => AdmissionState
  readonly sharedDownloads: () => SharedSlotsState | null
  readonly transfers: (direction: 'in' | 'out') => { active: number; bytes: number }
  /** Prometheus text. */
  readonly metrics: () => Promise<string>
}

const transfersView = ({ transfers, downloads }: Pick<HealthHandlerDeps, 'transfers' | 'downloads'>) => {
  const [incoming, outgoing] = [transfers('in'), transfers('out')]
  const { slots, held, waiting, sessions } = downloads()
  return {
    uploads: { admission: { active: incoming.active }, bandwidth: { bytes: String(incoming.bytes) } },
    downloads: {
      admission: { active: outgoing.active, slots, held, waiting },
      bandwidth: { bytes: String(outgoing.bytes) },
      sessions: { open: sessions },
    },
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
        transfers: transfersView(deps),
      },
    }
  }),
  handle(operations.getMetrics, async () => ({
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4' },
    text: await deps.metrics(),
  })),
]
