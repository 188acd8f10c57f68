import type { Clock } from '../../kernel/clock.ts'
import { type DownloadClass, downloadClasses } from '../../kernel/download-class.ts'
import { Failure } from '../../kernel/failure.ts'
import {
  downloadAwaitedMs,
  downloadCostMsMax,
  downloadRangesMax,
  downloadRestMs,
  downloadSlotMs,
  downloadSpeedGuess,
  downloadsWaitingMax,
  downloadsWaitingPerCallerMax,
  queueRetrySecondsMax,
  smallDownloadBytes,
} from '../../kernel/limits/downloads.ts'
import { SlowClients } from '../../kernel/slow-clients.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { Download, Slot } from './download.ts'
import { FairQueue, type Holding, type Wish } from './fair-queue.ts'
import type { DownloadMeter } from './meter.ts'
import { RangesTogether } from './ranges-together.ts'
import { closing, tooLong, tooMany } from './refusals.ts'
import { SendingSlot } from './sending-slot.ts'
import { type Session, sessionKey, type Waiter } from './session.ts'
import type { Tickets } from './tickets.ts'

/**
 * Who may send how much at once. A download needs a slot; there are so many, and a fair queue ({@link FairQueue})
 * before them. Small bodies need none.
 *
 * A request without an id is held until its turn comes, for a bounded time; ranges that are fetched side by side take
 * one slot together ({@link RangesTogether}). One with an id belongs to a session, which has one slot for all its
 * ranges, however many run at once:
 *
 *     waiting --its turn--> called --asks again--> open --last range ends--> resting --asks again--> open
 *        |                    |                      |                         |
 *        not asked for long   does not come          had its turn, others      does not come
 *        v                    v                      wait: yields at the next  v
 *      gone                 gone                     range --> waiting       gone
 *
 * While it waits, each request is answered at once with `download_queued`, when to ask again, and a ticket that keeps
 * the place, also when this process ends. Nothing here outlives the process but the ticket.
 */
export interface Admission {
  /**
   * Resolves when the bytes may be sent. Throws 503 `download_queued` to a session that has to wait, 503 `busy` when
   * too many wait or it takes too long, 503 `draining` once closed.
   */
  enter(download: Download): Promise<Slot> | Slot
  /** From now on so many slots; who has one keeps it. */
  resize(slots: number): void
  /** Calls when somebody waits although no slot of these is free: more would help. */
  onWant(listener: () => void): void
  readonly state: AdmissionState
  /** Sends away who waits and takes nobody more. Who has a slot keeps it. */
  close(): void
}

interface AdmissionState {
  readonly slots: number
  readonly held: number
  readonly waiting: number
  readonly sessions: number
}

export interface AdmissionDeps {
  readonly clock: Clock
  readonly timers: Timers
  readonly tickets: Tickets
  readonly meter: DownloadMeter
  readonly slots: number
  readonly waitMs: number
}

const never = (): void => {}

export const createAdmission = (deps: AdmissionDeps): Admission => new FairAdmission(deps)

class FairAdmission implements Admission {
  readonly #deps: AdmissionDeps
  readonly #queue = new FairQueue<Waiter>()
  readonly #sessions = new Map<string, Session>()
  readonly #sending: SlowClients<SendingSlot>
  readonly #held = new Set<(failure: Failure) => void>()
  readonly #together: RangesTogether
  #slots: number
  /** How fast clients took the last downloads, and how long that was, on average. */
  #bytesPerMs = downloadSpeedGuess
  #heldMs = 1000
  #closed = false
  #wanting: () => void = never
  /** For what needs no slot. */
  readonly #small: ReadonlyMap<DownloadClass, Slot>

  constructor(deps: AdmissionDeps) {
    this.#deps = deps
    this.#slots = deps.slots
    const { bytes } = deps.meter
    this.#together = new RangesTogether({
      timers: deps.timers,
      enter: (download) => this.#once(download),
      othersWait: () => this.#queue.length > 0,
    })
    this.#sending = new SlowClients(deps.timers, (pace) => {
      deps.meter.cut += 1
      deps.meter.tooSlow(pace)
    })
    this.#small = new Map(
      downloadClasses.map((name) => [
        name,
        {
          sent: (count) => {
            bytes[name] += count
          },
          end: never,
        },
      ]),
    )
  }

  get state(): AdmissionState {
    const { length: waiting, held } = this.#queue
    return { slots: this.#slots, held, waiting, sessions: this.#sessions.size }
  }

  enter(download: Download): Promise<Slot> | Slot {
    if (this.#closed) throw closing()
    const small = download.bytes <= smallDownloadBytes ? this.#small.get(download.downloadClass) : undefined
    if (small !== undefined) return small
    if (download.id !== undefined && !(download.comesOnce === true && !this.#hasSlot(download)))
      return this.#ofSession(download)
    return download.sideBySide ? this.#together.enter(download) : this.#once(download)
  }

  #hasSlot(download: Download): boolean {
    const session = this.#sessions.get(sessionKey(download))
    return session !== undefined && session.slot !== null && session.wish === null
  }

  resize(slots: number): void {
    this.#slots = slots
    this.#callNext()
  }

  onWant(listener: () => void): void {
    this.#wanting = listener
  }

  close(): void {
    this.#closed = true
    for (const session of this.#sessions.values()) if (session.ranges === 0) this.#forget(session)
    for (const sendAway of [...this.#held]) sendAway(closing())
  }

  /** A request that is held until its turn comes. */
  #once(download: Download): Promise<Slot> | Slot {
    const { clock, meter, timers, waitMs } = this.#deps
    const startedMs = timers.now()
    const granting = Promise.withResolvers<Slot>()
    let granted: Slot | null = null
    let settled = false
    let cancelTimer = never
    const settle = (): void => {
      settled = true
      cancelTimer()
      this.#held.delete(sendAway)
    }
    const sendAway = (failure: Failure): void => {
      if (settled) return
      settle()
      this.#queue.remove(wish)
      meter.refused += 1
      granting.reject(failure)
    }
    const grant = (holding: Holding<Waiter>): void => {
      settle()
      this.#admitted(timers.now() - startedMs)
      const slot = this.#sending.add(new SendingSlot(download.caller, timers))
      granted = this.#grant(download, slot, () => {
        this.#sending.delete(slot)
        this.#release(holding)
      })
      granting.resolve(granted)
    }
    const wish = this.#wish(download, clock.now(), { grant, giveUp: () => sendAway(tooMany()) })
    this.#add(wish)
    this.#callNext()
    if (granted !== null) return granted
    cancelTimer = timers.after(waitMs, () => sendAway(tooLong(waitMs)))
    this.#held.add(sendAway)
    download.scope.own(() => sendAway(tooLong(waitMs)))
    return granting.promise
  }

  #ofSession(download: Download): Slot {
    const { clock, tickets } = this.#deps
    const key = sessionKey(download)
    const known = this.#sessions.get(key)
    if (known !== undefined) return this.#again(known, download)
    const waitedSinceMs = download.ticket === undefined ? null : tickets.read(key, download.ticket)
    const session: Session = {
      key,
      download,
      sinceMs: waitedSinceMs ?? clock.now(),
      wish: null,
      holding: null,
      slot: null,
      ranges: 0,
      retrySeconds: 1,
      cancelTimer: never,
    }
    this.#wait(session)
    this.#sessions.set(key, session)
    this.#callNext()
    return this.#enterOrWait(session, download)
  }

  /** Another request of a session. One that had its turn yields to those who wait, unless it would be next again. */
  #again(session: Session, download: Download): Slot {
    const { clock, meter, timers } = this.#deps
    const { holding } = session
    const hadItsTime = holding !== null && timers.now() - holding.startedAtMs >= downloadSlotMs
    const yields = hadItsTime && session.wish === null && this.#queue.length > 0
    if (yields) {
      session.sinceMs = clock.now()
      this.#wait(session)
      if (session.ranges === 0) this.#giveBack(session)
    }
    this.#callNext()
    if (yields && session.wish !== null) meter.yielded += 1
    return this.#enterOrWait(session, download)
  }

  /** A range of a session that has its slot and need not yield; 503 `download_queued` for another. */
  #enterOrWait(session: Session, download: Download): Slot {
    if (session.slot === null || session.wish !== null) throw this.#queued(session)
    if (session.ranges >= downloadRangesMax)
      throw new Failure('busy', `${downloadRangesMax} ranges of this download are on their way; wait for one to end.`)
    session.ranges += 1
    session.cancelTimer()
    return this.#grant(download, session.slot, () => {
      session.ranges -= 1
      if (session.ranges === 0) this.#rest(session, download.last)
    })
  }

  /** Between two ranges a session keeps its slot for a moment, which is short while others wait. */
  #rest(session: Session, wasLast: boolean): void {
    if (session.wish !== null) {
      this.#expect(session)
      this.#giveBack(session)
      return
    }
    const heldMs = this.#deps.timers.now() - (session.holding?.startedAtMs ?? 0)
    const others = this.#queue.length > 0
    const restMs = !others ? downloadRestMs : wasLast ? 0 : Math.min(downloadRestMs, heldMs / 4)
    if (this.#closed || restMs === 0) this.#forget(session)
    else session.cancelTimer = this.#deps.timers.after(restMs, () => this.#forget(session))
  }

  /** A session that does not ask again in time is forgotten. */
  #expect(session: Session): void {
    session.cancelTimer()
    const awaitedMs = session.retrySeconds * 1000 + downloadAwaitedMs
    session.cancelTimer = this.#deps.timers.after(awaitedMs, () => this.#forget(session))
  }

  /** Puts a session in the queue. When its turn comes and it is not here, its slot is kept until it asks again. */
  #wait(session: Session): void {
    const { clock, timers } = this.#deps
    const grant = (holding: Holding<Waiter>): void => {
      session.wish = null
      // A session that yields and is next all the same gives its old slot for the new one.
      if (session.holding !== null) this.#queue.end(session.holding, timers.now())
      session.holding = holding
      this.#close(session)
      session.slot = this.#sending.add(new SendingSlot(session.download.caller, timers))
      this.#admitted(clock.now() - session.sinceMs)
      if (session.ranges === 0) this.#expect(session)
    }
    const giveUp = (): void => {
      this.#queue.remove(wish)
      session.wish = null
      // One that is sending keeps the slot that it has.
      if (session.ranges === 0) this.#forget(session)
    }
    const wish = this.#wish(session.download, session.sinceMs, { grant, giveUp })
    this.#add(wish)
    session.wish = wish
  }

  #close(session: Session): void {
    if (session.slot !== null) this.#sending.delete(session.slot)
    session.slot = null
  }

  #admitted(waitedMs: number): void {
    this.#deps.meter.admitted += 1
    this.#deps.meter.waited(Math.max(0, waitedMs) / 1000)
  }

  #queued(session: Session): Failure {
    const { meter, tickets } = this.#deps
    meter.queued += 1
    const aheadMs = (this.#queue.length / Math.max(1, this.#slots)) * this.#heldMs
    session.retrySeconds = Math.min(queueRetrySecondsMax, Math.max(1, Math.ceil(aheadMs / 1000)))
    if (session.ranges === 0) this.#expect(session)
    const detail = `All ${this.#slots} slots are taken. Ask again in ${session.retrySeconds} s with the same Svc-Download-Id and this Svc-Queue-Ticket.`
    return new Failure('download_queued', detail, {
      retryAfterSeconds: session.retrySeconds,
      headers: {
        'svc-queue-ticket': tickets.issue(session.key, session.sinceMs),
        'svc-download-class': session.download.downloadClass,
        'svc-queue-waiting': String(this.#queue.length),
      },
    })
  }

  #wish(download: Download, sinceMs: number, item: Waiter): Wish<Waiter> {
    const { caller, downloadClass, bytes } = download
    const costMs = Math.min(downloadCostMsMax, Math.max(1, bytes / this.#bytesPerMs))
    return { caller, downloadClass, sinceMs, costMs, item }
  }

  /** Where the line is full, whoever waits most often gives up a place, if that is more often than who comes. */
  #add(wish: Wish<Waiter>): void {
    const mine = this.#queue.waitingOf(wish.caller)
    const isFull = this.#queue.length >= downloadsWaitingMax
    const instead = isFull ? this.#queue.lastOfMost(mine + 1) : null
    if (mine >= downloadsWaitingPerCallerMax || (isFull && instead === null)) {
      this.#deps.meter.refused += 1
      throw tooMany()
    }
    instead?.item.giveUp()
    this.#queue.add(wish)
  }

  /** One caller never has all the slots, where there are several: who comes next finds one. */
  get #perCaller(): number {
    return this.#slots - Math.floor(this.#slots / 8)
  }

  #callNext(): void {
    while (!this.#closed && this.#queue.length > 0 && this.#queue.held < this.#slots) {
      const holding = this.#queue.take(this.#deps.timers.now(), this.#perCaller)
      if (holding === null) return
      holding.wish.item.grant(holding)
    }
    if (this.#queue.length === 0) return
    this.#wanting()
    this.#sending.watch(() => this.#queue.hungry(this.#perCaller))
  }

  #grant(download: Download, slot: SendingSlot, end: () => void): Slot {
    const { meter, timers } = this.#deps
    const begunMs = timers.now()
    let sentBytes = 0
    const hangUp = (): void => download.hangUp()
    slot.begin(hangUp)
    return {
      sent: (bytes) => {
        sentBytes += bytes
        slot.sent(bytes)
        meter.bytes[download.downloadClass] += bytes
      },
      // A turn that comes when its client is gone ends here and now.
      end: download.scope.own(() => {
        // What the next one will take is guessed from what the last ones took.
        const tookMs = Math.max(1, timers.now() - begunMs)
        if (sentBytes > smallDownloadBytes) this.#bytesPerMs += (sentBytes / tookMs - this.#bytesPerMs) / 16
        this.#heldMs += (tookMs - this.#heldMs) / 16
        slot.finish(hangUp)
        end()
      }),
    }
  }

  #release(holding: Holding<Waiter>): void {
    this.#queue.end(holding, this.#deps.timers.now())
    this.#callNext()
  }

  #giveBack(session: Session): void {
    const { holding } = session
    session.holding = null
    this.#close(session)
    if (holding !== null) this.#release(holding)
  }

  #forget(session: Session): void {
    session.cancelTimer()
    if (session.wish !== null) this.#queue.remove(session.wish)
    session.wish = null
    this.#sessions.delete(session.key)
    this.#giveBack(session)
  }
}
