import { Counter, Gauge, type Registry } from 'prom-client'

type Direction = 'in' | 'out'

/** Counts files on their way in and out. */
export interface TransferMeter {
  /** One file on its way: call `add` for its bytes and `end` once. */
  begin(direction: Direction): { add(bytes: number): void; end(): void }
  /** One file that the proxy in front sends. */
  leftToProxy(bytes: number): void
  /** What is on its way now, and what was since the start. */
  transfers(direction: Direction): { active: number; bytes: number }
}

export const createTransferMeter = (registry: Registry): TransferMeter => {
  const bytes = new Counter({
    name: 'svc_transfer_bytes_total',
    help: 'Bytes of file contents received (in) and sent (out).',
    labelNames: ['direction'] as const,
    registers: [registry],
  })
  const leftToProxy = new Counter({
    name: 'svc_downloads_left_to_proxy_total',
    help: 'Downloads that the proxy in front was left to send.',
    registers: [registry],
  })
  const leftBytes = new Counter({
    name: 'svc_left_to_proxy_bytes_total',
    help: 'Bytes of file contents that the proxy in front was left to send.',
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
  return {
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
    leftToProxy(count) {
      leftToProxy.inc()
      leftBytes.inc(count)
    },
    transfers: (direction) => ({ ...tracked[direction].now }),
  }
}
