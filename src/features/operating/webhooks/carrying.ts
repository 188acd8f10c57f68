import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../../kernel/clock.ts'
import { monotonicMs } from '../../../kernel/monotonic.ts'
import type { OutboundHttp, OutboundLine } from '../../../ports/outbound-http.ts'
import { type DeliveryFault, deliver, type Event } from './delivery.ts'
import type { SecretFiles, Subscription } from './subscription.ts'

/** Events that a subscription is sent one after the other. */
export interface Load {
  readonly subscription: Subscription
  readonly secretFiles: SecretFiles
  readonly events: readonly Event[]
  /** Of the clock that nobody sets: no delivery begins later. */
  readonly untilMs: number
}

export interface Carried {
  /** How many were taken: the first ones. */
  readonly taken: number
  /** Why the next one was not; null where it was not sent. */
  readonly fault: DeliveryFault | null
}

/**
 * Carries events to receivers, somewhere beside whoever has it do so. One load of a subscription at a time, and all of
 * them side by side.
 */
export interface Carrier {
  /** Sends events until one is not taken, the time is over, or the subscription is left. Counts what is taken. */
  carry(load: Load, taken: Int32Array): Promise<Carried>
  /** Ends what is under way for a subscription, and the connection that is kept for it. */
  leave(id: string): void
}

export interface CarrierDeps {
  readonly door: Pick<OutboundHttp, 'line'>
  readonly clock: Clock
  readonly secretsOf: (files: SecretFiles) => () => Promise<readonly Uint8Array[]>
  /** How long the next delivery is to wait, so that others have the processor. */
  readonly standBackMs: () => number
}

/** What is kept for a subscription from load to load. */
interface Way {
  readonly url: string
  readonly line: OutboundLine
  readonly leaving: AbortController
  files: SecretFiles
  secrets: () => Promise<readonly Uint8Array[]>
}

/** A carrier that works where it stands. */
export const createCarrier = ({ door, clock, secretsOf, standBackMs }: CarrierDeps): Carrier => {
  const ways = new Map<string, Way>()
  const leave = (id: string): void => {
    const way = ways.get(id)
    ways.delete(id)
    way?.leaving.abort()
    way?.line.close()
  }
  const wayOf = ({ subscription: { id, url }, secretFiles }: Load): Way => {
    const known = ways.get(id)
    if (known?.url === url) {
      if (
        known.files.secretFile !== secretFiles.secretFile ||
        known.files.nextSecretFile !== secretFiles.nextSecretFile
      )
        Object.assign(known, { files: secretFiles, secrets: secretsOf(secretFiles) })
      return known
    }
    leave(id)
    const way = {
      url,
      line: door.line(url),
      leaving: new AbortController(),
      files: secretFiles,
      secrets: secretsOf(secretFiles),
    }
    ways.set(id, way)
    return way
  }
  return {
    leave,
    async carry(load, taken) {
      const { line, leaving, secrets } = wayOf(load)
      const { signal } = leaving
      const subscribed = { subscription: load.subscription, secrets }
      let count = 0
      for (const event of load.events) {
        const pauseMs = standBackMs()
        if (pauseMs > 0) await pause(pauseMs)
        if (signal.aborted || monotonicMs() >= load.untilMs) break
        try {
          const fault = await deliver({ line, clock }, subscribed, event, signal)
          if (fault !== null) return { taken: count, fault }
        } catch (error) {
          if (signal.aborted) break
          throw error
        }
        count += 1
        Atomics.store(taken, 0, count)
      }
      return { taken: count, fault: null }
    },
  }
}
