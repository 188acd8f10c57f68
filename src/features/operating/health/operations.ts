import Type from 'typebox'
import { answers, defineOperation } from '../../../contract/define.ts'
import { ByteCount, fields, nullable, oneOf, Timestamp } from '../../../contract/schemas.ts'
import { countedMax } from '../../../kernel/limits/process.ts'
import { samplesToldMax, serviceDaysDefault, serviceDaysMax } from '../../../kernel/limits/samples.ts'

const health = { surface: 'discovery', retry: 'read', method: 'GET', whileDraining: true } as const

const count = Type.Integer({ minimum: 0 })
const bandwidth = fields({ bytes: ByteCount })
const Transfers = fields({
  uploads: fields({ admission: fields({ active: count }), bandwidth }),
  downloads: fields({
    admission: fields({ active: count, slots: count, held: count, waiting: count }),
    bandwidth,
    sessions: fields({ open: count }),
  }),
})

export const getLiveness = defineOperation({
  ...health,
  id: 'getLiveness',
  path: '/health/live',
  summary: 'The process answers',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a supervisor has no credential' },
  responses: { 200: answers('Alive', fields({ status: oneOf(['ok'] as const) })) },
})

export const getHealthStatus = defineOperation({
  ...health,
  id: 'getHealthStatus',
  path: '/health/status',
  summary: 'Requests can be served',
  visibility: 'public',
  access: { kind: 'anyone', reason: 'a load balancer has no credential' },
  responses: {
    200: answers('Ready', fields({ status: oneOf(['ready'] as const) })),
    503: answers('Not now', fields({ status: oneOf(['unavailable', 'draining'] as const) })),
  },
})

export const getReadiness = defineOperation({
  ...health,
  id: 'getReadiness',
  path: '/health/ready',
  summary: 'Readiness in detail',
  visibility: 'authenticated',
  access: { kind: 'credential' },
  responses: {
    200: answers(
      'Ready',
      fields({
        role: oneOf(['api', 'reader'] as const),
        status: oneOf(['ready'] as const),
        writable: Type.Boolean(),
        sharedDownloads: nullable(
          fields({
            slot: count,
            slots: count,
            active: count,
            leaseSeconds: count,
          }),
        ),
        transfers: Transfers,
      }),
    ),
  },
  failures: ['draining', 'unavailable'],
})

const known = nullable(count)

export const getOverview = defineOperation({
  ...health,
  id: 'getOverview',
  path: '/health/overview',
  summary: 'How the service is, on one screen: also while what it depends on is away',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  responses: {
    200: answers(
      'As it is now; null is what cannot be asked',
      fields({
        version: Type.String(),
        startedAt: Timestamp,
        role: oneOf(['api', 'reader'] as const),
        processes: count,
        database: oneOf(['sqlite', 'postgres'] as const),
        store: oneOf(['directory', 's3'] as const),
        ready: Type.Boolean(),
        reason: nullable(Type.String()),
        writable: Type.Boolean(),
        space: fields({
          publishedBytes: nullable(ByteCount),
          reservedBytes: nullable(ByteCount),
          capacityBytes: ByteCount,
          freeBytes: nullable(ByteCount),
          reserveBytes: ByteCount,
        }),
        transfers: Transfers,
        openUploadSessions: known,
        jobs: fields({ open: known, failedWithinADay: known }),
        upkeep: nullable(Type.Array(fields({ name: Type.String(), succeededAt: Timestamp }), { maxItems: countedMax })),
      }),
    ),
  },
})

export const listServiceSamples = defineOperation({
  ...health,
  id: 'listServiceSamples',
  path: '/health/samples',
  summary: 'Read what the service held and had to do in the last days',
  visibility: 'administrator',
  access: { kind: 'administrator' },
  query: fields({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: serviceDaysMax, default: serviceDaysDefault })),
  }),
  responses: {
    200: answers(
      'Oldest first, every ten minutes, or, of more than 7 days, each hour',
      fields({
        items: Type.Array(
          fields({
            takenAt: Timestamp,
            publishedBytes: ByteCount,
            reservedBytes: ByteCount,
            openUploadSessions: count,
            openJobs: count,
          }),
          { maxItems: samplesToldMax },
        ),
      }),
    ),
  },
})

export const getMetrics = defineOperation({
  ...health,
  id: 'getMetrics',
  path: '/health/metrics',
  summary: 'Metrics for Prometheus',
  visibility: 'authenticated',
  access: { kind: 'credential' },
  responses: { 200: { description: 'Prometheus text format', schema: null, mediaType: 'text/plain; version=0.0.4' } },
})
