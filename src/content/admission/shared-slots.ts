import type { Database } from '../../database/database.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { newId } from '../../kernel/ids.ts'
import { gatewayBeatMs, gatewayBeatsApartMs, gatewayLeaseMs } from '../../kernel/limits/downloads.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { Admission } from './admission.ts'
import { forgetGateway, forgetGateways, liveGateways, lockGateways, writeGateway } from './shared-slots.queries.ts'

/**
 * Download slots that all gateways of a service share. Each holds a lease on a part of them, a row that it renews; the
 * parts follow what each one has to do. Nobody takes what another still has: a part shrinks as downloads end, and only
 * then another grows, so that together they never give out more than there are. A gateway that dies is forgotten when
 * its lease ends; one that cannot renew gives out nothing from then on.
 */
export interface SharedSlots {
  readonly state: SharedSlotsState
  /** Gives the lease back. */
  stop(): Promise<void>
}

export interface SharedSlotsState {
  /** Slots that this gateway may give out. */
  readonly slot: number
  /** Slots of the whole service. */
  readonly slots: number
  /** Downloads that have one, on every gateway. */
  readonly active: number
  readonly leaseSeconds: number
}

export interface SharedSlotsDeps {
  readonly database: Database
  readonly clock: Clock
  readonly timers: Timers
  readonly admission: Pick<Admission, 'resize' | 'onWant' | 'state'>
  readonly report: (message: string, error: unknown) => void
}

/** Joins the gateways that share `total` slots. Resolves when it knows its part. */
export const shareSlots = async (deps: SharedSlotsDeps, total: number): Promise<SharedSlots> => {
  const { database, clock, timers, admission, report } = deps
  const id = newId(clock.now())
  let mine = 0
  let elsewhere = 0
  let beating: Promise<void> | null = null
  let again = false
  let stopped = false
  let cancelNext = (): void => {}
  let cancelEnd = (): void => {}

  const beat = async (): Promise<void> => {
    const { held, waiting } = admission.state
    const now = clock.now()
    const { slots, others } = await takePart(database, { id, held, wanted: held + waiting, total, now })
    mine = slots
    elsewhere = others.reduce((sum, row) => sum + row.held, 0)
    cancelEnd()
    cancelEnd = timers.after(gatewayLeaseMs - (clock.now() - now), () => {
      mine = 0
      admission.resize(0)
    })
    admission.resize(mine)
  }

  /** Runs one beat at a time, and one more when somebody asked meanwhile. */
  const run = (): Promise<void> => {
    again = beating !== null
    beating ??= beat()
      .catch((error: unknown) => report('the lease on shared download slots could not be renewed', error))
      .finally(() => {
        beating = null
        cancelNext()
        if (!stopped) cancelNext = timers.after(again ? gatewayBeatsApartMs : gatewayBeatMs, () => void run())
        again = false
      })
    return beating
  }

  await beat()
  cancelNext = timers.after(gatewayBeatMs, () => void run())
  let wantedAtMs = timers.now()
  admission.onWant(() => {
    // More than one gateway may want at every moment; the database is asked a few times a second.
    if (timers.now() - wantedAtMs < gatewayBeatsApartMs) return
    wantedAtMs = timers.now()
    void run()
  })
  return {
    get state() {
      return {
        slot: mine,
        slots: total,
        active: elsewhere + admission.state.held,
        leaseSeconds: gatewayLeaseMs / 1000,
      }
    },
    async stop() {
      stopped = true
      cancelNext()
      await beating
      cancelEnd()
      try {
        await database.transaction((tx) => forgetGateway(tx, id), { durability: 'relaxed' })
      } catch (error) {
        report('the lease on shared download slots could not be given back; it ends by itself', error)
      }
    },
  }
}

/** Renews the lease of one gateway: with what is its part now, as far as others have left it. */
const takePart = (
  database: Database,
  { id, held, wanted, total, now }: { id: string; held: number; wanted: number; total: number; now: number },
) =>
  database.transaction(
    async (tx) => {
      await lockGateways(tx, database.engine)
      await forgetGateways(tx, timestamp(now))
      const others = (await liveGateways(tx, timestamp(now))).filter((row) => row.id !== id)
      const part = fairPart(
        total,
        wanted,
        others.map((row) => row.wanted),
      )
      const left = total - others.reduce((sum, row) => sum + row.slots, 0)
      const slots = Math.max(held, Math.min(part, left))
      await writeGateway(tx, { id, slots, held, wanted, ends_at: timestamp(now + gatewayLeaseMs) })
      return { slots, others }
    },
    // What a power cut takes away are leases of gateways that it took away as well.
    { durability: 'relaxed' },
  )

/**
 * The part of one among those who want: everyone gets what they want as long as it is no more than an equal part; what
 * is left is divided between those who want more, and what nobody wants is divided between all.
 */
export const fairPart = (total: number, wanted: number, others: readonly number[]): number => {
  const all = [wanted, ...others]
  // Each is sure of one slot, so that a first download need not wait for a beat.
  const wants = all.map((each) => Math.max(1, each))
  const sum = wants.reduce((a, b) => a + b, 0)
  if (sum <= total) return (wants[0] ?? 0) + Math.floor((total - sum) / all.length)
  let left = total
  const hungry = [...wants].sort((a, b) => a - b)
  let level = 0
  for (const [index, want] of hungry.entries()) {
    level = left / (hungry.length - index)
    if (want > level) break
    left -= want
  }
  return Math.max(1, Math.floor(Math.min(wants[0] ?? 0, level)))
}
