import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type Measure, showMeasure } from './measures.ts'
import { createRequestMeter } from './requests.ts'
import { createTransferMeter, type TransferMeter } from './transfers.ts'

/** What the library measures with labels of its own, which are not ours to show, and its idea of the start time. */
const labelled = [
  'process_start_time_seconds',
  'nodejs_version_info',
  'nodejs_active_resources',
  'nodejs_active_handles',
  'nodejs_active_requests',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_gc_duration_seconds',
]

/** Metrics of the process. Labels are the route template, method, status class and direction, and nothing else. */
export interface HttpMetrics extends TransferMeter {
  readonly registry: Registry
  /** What tells of all that is stored: see {@link Measure.ofCatalog}. */
  readonly ofCatalog: Registry
  /** Shows what others count, read when somebody looks. */
  show(measures: readonly Measure[]): void
  /** A histogram of seconds; answers the function that it is told by. */
  timing(name: string, help: string): (seconds: number) => void
  answered(route: string, method: string, status: number, seconds: number): void
}

export const createMetrics = (startedAtSeconds: number): HttpMetrics => {
  const registry = new Registry()
  const ofCatalog = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  for (const name of labelled) registry.removeSingleMetric(`svc_${name}`)
  new Gauge({
    name: 'svc_process_start_time_seconds',
    help: 'Start of the process in seconds since the Unix epoch. Counters start from zero then.',
    registers: [registry],
    aggregator: 'max',
  }).set(startedAtSeconds)
  const answered = createRequestMeter(registry)
  return {
    registry,
    ofCatalog,
    answered,
    ...createTransferMeter(registry),
    show(measures) {
      for (const measure of measures) showMeasure(measure.ofCatalog === true ? ofCatalog : registry, measure)
    },
    timing(name, help) {
      const buckets = [0.1, 1, 5, 30, 600]
      const histogram = new Histogram({ name, help, buckets, registers: [registry] })
      return (seconds) => histogram.observe(seconds)
    },
  }
}
