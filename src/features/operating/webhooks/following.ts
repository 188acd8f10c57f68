import { passedOverBetween } from '../../../journal/repository/gaps.queries.ts'
import type { JournalWatch } from '../../../journal/repository/watch.ts'
import { timestamp } from '../../../kernel/clock.ts'
import {
  webhookCarriedMs,
  webhookLeaseMs,
  webhookLeaseRenewMs,
  webhookLeaseSpareMs,
  webhookNotedEveryMs,
  webhookOverAfterMs,
  webhookOwnPauseMs,
  webhookPauseFirstMs,
  webhookPauseLongestMs,
} from '../../../kernel/limits/webhooks.ts'
import { monotonicMs } from '../../../kernel/monotonic.ts'
import { orLater } from '../../../kernel/or-later.ts'
import { second } from '../../../kernel/units.ts'
import type { Carried, Carrier } from './carrying.ts'
import type { DeliveryFault, Event } from './delivery.ts'
import type { Noting } from './noting.ts'
import type { Reading } from './reading.ts'
import { type Note, type Standing, type StandingDeps, takeSubscription } from './standing.ts'
import { cursorOf, hostOf, type Subscribed, type Subscription } from './subscription.ts'

/** What is told of deliveries, by the names of the specification. */
export interface Told {
  readonly event:
    | 'webhook.started'
    | 'webhook.step_failed'
    | 'webhook.recovered'
    | 'webhook.stopped'
    | 'webhook.events_lost'
    | 'webhook.prune_failed'
  readonly webhook: string
  readonly facts: Readonly<Record<string, string | number>>
}

export interface FollowingDeps extends StandingDeps {
  readonly carrier: Carrier
  readonly reading: Reading
  readonly noting: Noting
  readonly watch: JournalWatch
  /** Names this worker in leases; nobody else has the same. */
  readonly holder: string
  readonly tell: (told: Told) => void
  /** A sentence about an error that is a state of the world, such as a database that is away; null for a bug. */
  readonly known: (error: unknown) => string | null
  /** Pause after a fault of ours, and after which time one that has not come back is over. */
  readonly ownFaults?: { readonly pauseMs: number; readonly overAfterMs: number }
}

const usualOwnFaults = { pauseMs: webhookOwnPauseMs, overAfterMs: webhookOverAfterMs }

/**
 * Delivers the events of one subscription in their order, one at a time, until the signal says to stop. What it needs
 * to know is in the database, so that a restart, a crash and another worker that takes over are one and the same.
 */
export const follow = async (deps: FollowingDeps, subscribed: Subscribed, signal: AbortSignal): Promise<void> => {
  const { subscription } = subscribed
  const { id: webhook } = subscription
  const { pauseMs, overAfterMs } = deps.ownFaults ?? usualOwnFaults
  let told = ''
  /** A bug that is not over: it may come back with every try. How often it did. */
  let bug = { why: '', times: 0 }
  const fail = (errorCode: 'unavailable' | 'internal', why: string): Promise<void> => {
    // While it lasts it is told once.
    if (told !== why && bug.why !== why) deps.tell({ event: 'webhook.step_failed', webhook, facts: { errorCode, why } })
    if (errorCode === 'internal') bug = { why, times: bug.why === why ? bug.times + 1 : 1 }
    told = why
    return pause(pauseMs, signal)
  }
  while (!signal.aborted)
    try {
      const standing = await takeSubscription(deps, subscription, deps.holder)
      if (standing === 'missing') await fail('unavailable', `there is no repository ${subscription.repository}`)
      else if ('heldForMs' in standing)
        await pause(Math.max(second, Math.min(standing.heldForMs, webhookLeaseRenewMs)), signal)
      else {
        told = ''
        const following = new Following(deps, subscribed, standing, signal)
        const { times } = bug
        let isTold = false
        const begin = (): void => {
          isTold = true
          bug = { why: '', times: 0 }
          const facts = {
            repository: subscription.repository,
            host: hostOf(subscription),
            position: following.position,
          }
          deps.tell({ event: 'webhook.started', webhook, facts: { ...facts, ...(times > 1 ? { faults: times } : {}) } })
        }
        // After a bug it is told that it goes on, and how often it did not, once that holds.
        const late = times === 0 ? undefined : setTimeout(begin, overAfterMs)
        if (late === undefined) begin()
        try {
          await following.run()
        } finally {
          clearTimeout(late)
          await following.stop(isTold)
        }
      }
    } catch (error) {
      if (signal.aborted) return
      const why = deps.known(error)
      await fail(why === null ? 'internal' : 'unavailable', why ?? String(error))
    }
}

class Following {
  readonly #deps: FollowingDeps
  readonly #subscribed: Subscribed
  readonly #signal: AbortSignal
  readonly #actions: ReadonlySet<string> | null
  #position: number
  #failures: number
  #failingSince: string | null
  #nextTryMs: number
  #lastSuccessMs: number | null = null
  /** Of `performance.now()`: when it last noted how it stands, and until when it may deliver. */
  #notedMs = performance.now()
  #leasedUntilMs = this.#notedMs + webhookLeaseMs
  #noted: number
  #isHeld = true
  /** The repository is gone. */
  #isOver = false

  constructor(deps: FollowingDeps, subscribed: Subscribed, standing: Standing, signal: AbortSignal) {
    this.#deps = deps
    this.#subscribed = subscribed
    this.#signal = signal
    const { actions } = subscribed.subscription
    this.#actions = actions === null ? null : new Set(actions)
    this.#position = standing.position
    this.#noted = standing.position
    this.#failures = standing.failures
    this.#failingSince = standing.failingSince
    this.#nextTryMs = standing.nextTryAt === null ? 0 : Date.parse(standing.nextTryAt)
  }

  get #subscription(): Subscription {
    return this.#subscribed.subscription
  }

  /** Until the lease is lost, the repository is gone, or the signal says so. */
  async run(): Promise<void> {
    const { watch, clock } = this.#deps
    const waiter = watch.register(this.#subscription.repository, cursorOf(this.#subscription.id))
    const leave = (): void => {
      waiter.leave()
      this.#deps.carrier.leave(this.#subscription.id)
    }
    this.#signal.addEventListener('abort', leave, { once: true })
    try {
      while (this.#isHeld && !this.#isOver && !this.#signal.aborted) {
        const waitMs = this.#nextTryMs - clock.now()
        // One that is longer than any was noted before the clock was set back.
        if (waitMs > 0 && waitMs <= webhookPauseLongestMs) {
          if (this.#isLeaseOld) await this.#note()
          await pause(Math.min(waitMs, second), this.#signal)
        } else if (!(await this.#deliverSome()) && !this.#isOver) {
          if (this.#isNoteDue || this.#isLeaseOld) await this.#note()
          const isNoted = this.#noted === this.#position
          await waiter.changed(this.#position, isNoted ? webhookLeaseRenewMs : untilNotesMs())
        }
      }
    } finally {
      this.#signal.removeEventListener('abort', leave)
      leave()
    }
  }

  get position(): number {
    return this.#position
  }

  /** Notes how it stands and lets others have it; says so where it was told that it began. */
  async stop(isTold: boolean): Promise<void> {
    try {
      if (this.#isHeld) await this.#note({ holder: null, leased_until: null })
    } finally {
      const facts = { position: this.#position }
      if (isTold) this.#deps.tell({ event: 'webhook.stopped', webhook: this.#subscription.id, facts })
    }
  }

  /** Delivers the next events; false where there are none. */
  async #deliverSome(): Promise<boolean> {
    const events = await this.#nextEvents()
    const last = events.at(-1)
    if (last === undefined) return false
    const actions = this.#actions
    const wanted = actions === null ? events : events.filter(({ action }) => actions.has(action))
    if (this.#isLeaseOld) await this.#note()
    if (!this.#isHeld || this.#signal.aborted) return true
    if (wanted.length === 0) {
      this.#position = last.sequence
      if (this.#isNoteDue) await this.#note()
      return true
    }
    const { taken, fault } = await this.#carried(wanted, last)
    const next = wanted[taken]
    if (fault !== null && next !== undefined) await this.#failed(next, fault)
    return true
  }

  /** Has events carried to the receiver, and notes meanwhile how many were taken. */
  async #carried(wanted: readonly Event[], last: Event): Promise<Carried> {
    const { carrier } = this.#deps
    const { subscription, secretFiles } = this.#subscribed
    const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    const nowMs = performance.now()
    const forMs = Math.min(webhookCarriedMs, this.#leasedUntilMs - webhookLeaseSpareMs - nowMs)
    const load = { subscription, secretFiles: secretFiles(), events: wanted, untilMs: monotonicMs() + forMs }
    const work = carrier.carry(load, taken)
    try {
      for (;;) {
        const carried = await orLater(work, this.#isNoteDue ? 0 : untilNotesMs())
        await this.#delivered(carried?.taken ?? Atomics.load(taken, 0), wanted, last)
        if (carried !== null) return carried
        if (this.#isNoteDue || this.#isNoteOld) await this.#note()
        if (!this.#isHeld) carrier.leave(subscription.id)
      }
    } catch (error) {
      // Whoever begins anew must not send beside what is under way.
      carrier.leave(subscription.id)
      await work.catch(() => undefined)
      throw error
    }
  }

  /** Sequences have no gaps but those of restores: one that does not follow shows that lines were forgotten. */
  async #nextEvents(): Promise<readonly Event[]> {
    const { reading, tell, database } = this.#deps
    const { id, repository } = this.#subscription
    const stretch = await reading.after(repository, this.#position)
    if (stretch === null) {
      this.#isOver = true
      return []
    }
    const { events, head } = stretch
    const first = events[0]?.sequence ?? head + 1
    if (first <= this.#position + 1) return events
    const between = { after: this.#position, to: first - 1 }
    const lost = first - this.#position - 1 - (await passedOverBetween(database.reader, repository, between))
    if (lost === 0) {
      this.#position = first - 1
      return events
    }
    tell({
      event: 'webhook.events_lost',
      webhook: id,
      facts: { from: this.#position + 1, to: first - 1, events: lost },
    })
    this.#position = first - 1
    await this.#note({}, lost)
    return events
  }

  /** So many of these were taken; what is between them is done with as well. */
  async #delivered(taken: number, wanted: readonly Event[], last: Event): Promise<void> {
    if (taken === 0) return
    const next = wanted[taken]
    this.#position = next === undefined ? last.sequence : next.sequence - 1
    this.#lastSuccessMs = this.#deps.clock.now()
    if (this.#failingSince === null) return
    const failedSeconds = Math.round((this.#lastSuccessMs - Date.parse(this.#failingSince)) / second)
    const facts = { failedSeconds, failures: this.#failures, position: this.#position }
    this.#failures = 0
    this.#failingSince = null
    await this.#note({ failing_since: null, failures: 0, error_code: null, next_try_at: null })
    this.#deps.tell({ event: 'webhook.recovered', webhook: this.#subscription.id, facts })
  }

  async #failed(event: Event, { code, why }: DeliveryFault): Promise<void> {
    const { clock, tell } = this.#deps
    const nowMs = clock.now()
    const pauseMs = Math.min(webhookPauseFirstMs * 2 ** Math.min(this.#failures, 20), webhookPauseLongestMs)
    this.#failures += 1
    this.#failingSince ??= timestamp(nowMs)
    this.#nextTryMs = nowMs + pauseMs
    const nextTryAt = timestamp(this.#nextTryMs)
    await this.#note({
      failing_since: this.#failingSince,
      failures: this.#failures,
      error_code: code,
      next_try_at: nextTryAt,
    })
    const facts = { errorCode: code, why, failures: this.#failures, position: event.sequence, nextTryAt }
    tell({ event: 'webhook.step_failed', webhook: this.#subscription.id, facts })
  }

  get #isNoteDue(): boolean {
    return this.#noted !== this.#position && noteMoment(performance.now()) > noteMoment(this.#notedMs)
  }

  /** Somebody else may have it meanwhile, or none. */
  get #isNoteOld(): boolean {
    return performance.now() - this.#notedMs >= webhookCarriedMs
  }

  get #isLeaseOld(): boolean {
    const now = performance.now()
    return now - this.#notedMs >= webhookLeaseRenewMs || this.#leasedUntilMs - now < webhookLeaseSpareMs
  }

  async #note(to: Note['to'] = {}, lost = 0): Promise<void> {
    const began = performance.now()
    const position = this.#position
    const lastSuccessAt = this.#lastSuccessMs === null ? null : timestamp(this.#lastSuccessMs)
    const noted = await this.#deps.noting.note(this.#subscription, { position, lastSuccessAt, to, lost })
    this.#isHeld = noted !== null
    this.#nextTryMs = noted === null || noted.nextTryAt === null ? 0 : Date.parse(noted.nextTryAt)
    this.#notedMs = began
    this.#leasedUntilMs = began + webhookLeaseMs
    this.#noted = position
  }
}

/** All subscriptions are noted at the same moments, so that it can be done in one transaction. */
const noteMoment = (nowMs: number): number => Math.floor(nowMs / webhookNotedEveryMs)
const untilNotesMs = (): number => Math.ceil(webhookNotedEveryMs - (performance.now() % webhookNotedEveryMs))

/** Ends early when the signal speaks. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done, { once: true })
  })
