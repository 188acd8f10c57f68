import cluster from 'node:cluster'
import { sameStopMs } from '../kernel/limits/process.ts'

/**
 * Resolves at the first SIGTERM or SIGINT. What follows at once is the same wish: Ctrl-C goes to everything that runs
 * in the terminal, and npm and other starters hand on to the service what it got already. One that comes seconds later
 * ends the process at once.
 *
 * One of several gateways is also asked to stop by the end of whoever started it, who is also the one who cuts it.
 */
export const stopAsked = (): Promise<void> =>
  new Promise((resolve) => {
    let askedAtMs: number | null = null
    const ask = (): void => {
      const nowMs = performance.now()
      askedAtMs ??= nowMs
      if (nowMs - askedAtMs >= sameStopMs && cluster.isPrimary) process.exit(1)
      resolve()
    }
    process.on('SIGTERM', ask).on('SIGINT', ask)
    if (cluster.isWorker) process.once('disconnect', ask)
  })
