import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

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
export interface HttpMetrics {
  readonly registry: Registry
  /** Shows what others count, read when somebody looks. */
  show(measures: readonly Measure[]): void
  /** A histogram of seconds; answers the function that it is told by. */
  timing(name: string, help: string): (seconds: number) => void
  answered(route: string, method: string, status: number, seconds: number): void
  /** One file on its way: call `add` for its bytes and `end` once. */
  begin(direction: Direction): { add(bytes: number): void; end(): void }
  /** What is on its way now, and what was since the start. */
  transfers(direction: Direction): { active: number; bytes: number }
}

export interface Measure {
  readonly name: string
  readonly help: string
  /** A counter only grows while the process lives. */
  readonly kind: 'counter' | 'gauge'
  readonly read: () => number | Promise<number>
  /** The same whichever process is asked: not to be added up. */
  readonly ofAll?: boolean
}

type Direction = 'in' | 'out'

export const createMetrics = (startedAtSeconds: number): HttpMetrics => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'svc_' })
  for (const name of labelled) registry.removeSingleMetric(`svc_${name}`)
  new Gauge({
    name: 'svc_process_start_time_seconds',
    help: 'Start of the process in seconds since the Unix epoch. Counters start from zero then.',
    registers: [registry],
    aggregator: 'max',
  }).set(startedAtSeconds)
  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'Answered requests.',
    labelNames: ['route', 'method', 'status_class'] as const,
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'svc_http_request_duration_seconds',
    help: 'Time from the request head to the end of the answer.',
    labelNames: ['route', 'method'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600],
    registers: [registry],
  })
  const bytes = new Counter({
    name: 'svc_transfer_bytes_total',
    help: 'Bytes of file contents received (in) and sent (out).',
    labelNames: ['direction'] as const,
    registers: [registry],
  })
  const active = new Gauge({
    name: 'svc_transfers_active',
    help: 'Files on their way in or out at this moment.',
    labelNames: ['direction'] as const,
    registers: [registry],
  })
  const track = (direction: Direction) => {
    const counter = bytes.labels(direction)
    const gauge = active.labels(direction)
    counter.inc(0)
    gauge.set(0)
    return { counter, gauge, now: { active: 0, bytes: 0 } }
  }
  const tracked = { in: track('in'), out: track('out') }
  // Looking a child up by its labels costs more than counting; routes are few, so children are kept.
  const counters = new Map<string, ReturnType<typeof requests.labels>>()
  const timers = new Map<string, ReturnType<typeof durations.labels>>()
  const child = <T>(kept: Map<string, T>, key: string, make: () => T): T => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const made = make()
    kept.set(key, made)
    return made
  }
  return {
    registry,
    show(measures) {
      for (const { name, help, kind, read, ofAll } of measures) {
        const aggregator = ofAll === true ? ('max' as const) : ('sum' as const)
        const common = { name, help, registers: [registry], aggregator }
        if (kind === 'gauge')
          new Gauge({
            ...common,
            async collect() {
              this.set(await read())
            },
          })
        else
          new Counter({
            ...common,
            async collect() {
              const value = await read()
              this.reset()
              this.inc(value)
            },
          })
      }
    },
    timing(name, help) {
      const histogram = new Histogram({
        name,
        help,
        buckets: [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 600],
        registers: [registry],
      })
      return (seconds) => histogram.observe(seconds)
    },
    answered(route, method, status, seconds) {
      const statusClass = `${Math.floor(status / 100)}xx`
      const which = `${method} ${route}`
      child(counters, `${which} ${statusClass}`, () => requests.labels(route, method, statusClass)).inc()
      child(timers, which, () => durations.labels(route, method)).observe(seconds)
    },
    begin(direction) {
      const { counter, gauge, now } = tracked[direction]
      now.active += 1
      gauge.inc()
      return {
        add(count) {
          now.bytes += count
          counter.inc(count)
        },
        end() {
          now.active -= 1
          gauge.dec()
        },
      }
    },
    transfers: (direction) => ({ ...tracked[direction].now }),
  }
}
