import { Counter, Histogram, type Registry } from 'prom-client'

/** Counts answered requests by route template, method and status class, and nothing else. */
export const createRequestMeter = (
  registry: Registry,
): ((route: string, method: string, status: number, seconds: number) => void) => {
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
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 30],
    registers: [registry],
  })
  // Looking a child up by its labels costs more than counting; routes are few, so children are kept.
  const counters = new Map<string, ReturnType<typeof requests.labels>>()
  const timers = new Map<string, ReturnType<typeof durations.labels>>()
  return (route, method, status, seconds) => {
    const statusClass = `${Math.floor(status / 100)}xx`
    const which = `${method} ${route}`
    kept(counters, `${which} ${statusClass}`, () => requests.labels(route, method, statusClass)).inc()
    kept(timers, which, () => durations.labels(route, method)).observe(seconds)
  }
}

const kept = <T>(children: Map<string, T>, key: string, make: () => T): T => {
  const known = children.get(key)
  if (known !== undefined) return known
  const made = make()
  children.set(key, made)
  return made
}
