import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { readMetrics } from '../metrics.ts'

/** What is zero when nobody wants anything. */
const underWay = ['svc_transfers_active', 'svc_download_slots_held', 'svc_downloads_waiting']
/** The slowest way back to rest is that of a body that is dropped: half a minute. */
const restMs = 60_000

/** Sockets that a process has open, of all kinds. */
const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:')
    } catch {
      // Closed since it was listed.
      return false
    }
  }).length

/** To be called at rest. What it answers waits until the service is at rest again, and says what never ended. */
export const watchRest = async (
  pid: number,
  base: string,
  credential: string,
): Promise<() => Promise<string | null>> => {
  await readMetrics(base, credential)
  const sockets = socketsOf(pid)
  const left = async (): Promise<string[]> => {
    const metric = await readMetrics(base, credential)
    const counted = underWay.map((name) => ({ name, count: metric(name) }))
    const more = socketsOf(pid) - sockets
    return [...counted, { name: 'connections', count: Math.max(0, more) }]
      .filter(({ count }) => count !== 0)
      .map(({ name, count }) => `${name} ${count}`)
  }
  return async () => {
    const giveUpAtMs = performance.now() + restMs
    for (let found = await left(); found.length > 0; found = await left()) {
      if (performance.now() > giveUpAtMs) return found.join(', ')
      await pause(100)
    }
    return null
  }
}
