import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { gatewayRestartMs, gatewayStartMs } from '../kernel/limits/process.ts'
import { endSuspect, suspectExitCode } from './ending.ts'
import type { Logger } from './log.ts'
import { answerForAll } from './process-metrics.ts'

/**
 * Several gateway processes on one port, for machines with more cores than one process can use. They share nothing but
 * the database, the bytes and the port; this process only starts them, starts them anew, and stops them. One that ends
 * because it does not know what the disk holds takes all others along: what they have open is the same.
 */
export interface Gateways {
  /** Where they answer. */
  readonly address: string
  /** Lets each finish what it is at. */
  stop(): Promise<void>
}

/** What a gateway process tells once it listens. */
export interface Listens {
  readonly listens: string
}

const isListens = (message: unknown): message is Listens =>
  typeof message === 'object' && message !== null && 'listens' in message && typeof message.listens === 'string'

/** Starts so many processes like this one. Resolves when all of them listen; rejects when one ends before it does. */
export const startGateways = async (count: number, log: Logger): Promise<Gateways> => {
  let stopping = false
  const ended = new Map<Worker, Promise<void>>()

  const start = (): Promise<string> => {
    const gateway = cluster.fork()
    let listening = false
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const slow = setTimeout(() => reject(new Error('a gateway process does not start')), gatewayStartMs)
    gateway.on('message', (message: unknown) => {
      if (isListens(message)) {
        listening = true
        resolve(message.listens)
      } else answerForAll(gateway, message)
    })
    const end = Promise.withResolvers<void>()
    ended.set(gateway, end.promise)
    gateway.once('exit', (code, signal) => {
      ended.delete(gateway)
      end.resolve()
      reject(new Error('A gateway process ended while it started.'))
      if (code === suspectExitCode && !stopping) endSuspect()
      if (stopping || !listening) return
      log.error({ pid: gateway.process.pid, code, signal }, 'a gateway process ended; another one takes its place')
      void replace()
    })
    return promise.finally(() => clearTimeout(slow))
  }

  /** Again and again: what kept one from starting may pass. */
  const replace = async (): Promise<void> => {
    await pause(gatewayRestartMs)
    if (stopping) return
    try {
      await start()
    } catch (error) {
      if (stopping) return
      log.error({ err: error }, 'no gateway process took its place yet')
      void replace()
    }
  }

  // However this process ends, none stays behind that a new one on the same data would have to wait for.
  const endAll = (): void => {
    for (const gateway of ended.keys()) gateway.process.kill('SIGKILL')
  }
  process.once('exit', endAll)

  const stop = async (): Promise<void> => {
    stopping = true
    for (const gateway of ended.keys()) gateway.process.kill('SIGTERM')
    await Promise.all(ended.values())
    process.off('exit', endAll)
  }

  try {
    const [address = ''] = await Promise.all(Array.from({ length: count }, start))
    return { address, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
