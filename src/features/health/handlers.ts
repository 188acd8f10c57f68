import type { FreeSpace } from '../../content/free-space.ts'
import { type BoundOperation, handle } from '../../contract/handler.ts'
import { Failure } from '../../kernel/failure.ts'
import { getHealthStatus, getLiveness, getMetrics, getReadiness } from './operations.ts'
import type { Readiness } from './readiness.ts'

export interface HealthHandlerParts {
  readonly role: 'api' | 'reader'
  readonly readiness: Readiness
  readonly freeSpace: FreeSpace
  readonly transfers: (direction: 'in' | 'out') => { active: number; bytes: number }
  /** Prometheus text. */
  readonly metrics: () => Promise<string>
}

const view = ({ active, bytes }: { active: number; bytes: number }) => ({
  admission: { active },
  bandwidth: { bytes: String(bytes) },
})

export const healthHandlers = (parts: HealthHandlerParts): BoundOperation[] => [
  handle(getLiveness, async () => ({ status: 200, json: { status: 'ok' as const } })),
  handle(getHealthStatus, async () => {
    try {
      await parts.readiness.refuseUnlessReady()
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
  handle(getReadiness, async () => {
    await parts.readiness.refuseUnlessReady()
    return {
      status: 200,
      json: {
        role: parts.role,
        status: 'ready' as const,
        writable: parts.role === 'api' && (await parts.freeSpace.writable()),
        sharedDownloads: null,
        transfers: { uploads: view(parts.transfers('in')), downloads: view(parts.transfers('out')) },
      },
    }
  }),
  handle(getMetrics, async () => ({
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    text: await parts.metrics(),
  })),
]
