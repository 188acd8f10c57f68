import { type DownloadClass, downloadClasses } from '../../kernel/download-class.ts'
import { downloadCallersKept, downloadClassShares } from '../../kernel/limits/downloads.ts'

/**
 * Whose turn is it? Slots are given out by start-time fair queueing (Goyal, Vin, Cheng, 1996) on two levels: between
 * the classes by their shares, and in each class between callers as equals.
 *
 * What is shared is the time for which a slot is held: a slow client costs as much as a big file. Everyone has an
 * account (`tag`) of the time taken; the lowest goes first. A turn is charged what it will probably take when it
 * begins, and what it really took as that becomes known. Who comes, or comes back, starts where the others are: no
 * credit is saved up, and no debt is left behind by going away.
 *
 * What follows: no class and no caller starves, since the accounts of the others only grow; and whoever asks for a
 * thousand files waits behind nobody but themselves. No clock and no timer is in here: time is what the caller says.
 */
export interface Wish<T> {
  readonly caller: string
  readonly downloadClass: DownloadClass
  /**
   * Wishes of one caller are served in this order; it may lie in the past. Also decides between callers who are even.
   */
  readonly sinceMs: number
  /** What the turn will probably take. */
  readonly costMs: number
  readonly item: T
}

/** A slot that somebody has. */
export interface Holding<T> {
  readonly wish: Wish<T>
  readonly startedAtMs: number
}

interface Account<T> {
  readonly of: ClassAccount<T>
  readonly caller: string
  tag: number
  held: number
  /** Oldest first. */
  readonly wishes: Wish<T>[]
}

interface ClassAccount<T> {
  readonly share: number
  tag: number
  /** Where the account stood that went last: everyone in the class is about here. */
  reached: number
  readonly callers: Map<string, Account<T>>
  /** Those who wish for something. */
  readonly waiting: Set<Account<T>>
}

interface OpenHolding<T> extends Holding<T> {
  readonly account: Account<T>
  chargedMs: number
}

export class FairQueue<T> {
  readonly #classes: ReadonlyMap<DownloadClass, ClassAccount<T>>
  readonly #holdings = new Map<Holding<T>, OpenHolding<T>>()
  /** Slots that each caller holds, in all classes. */
  readonly #heldBy = new Map<string, number>()
  /** Wishes of each caller that wait, in all classes. */
  readonly #waitingBy = new Map<string, number>()
  #reached = 0
  #length = 0

  constructor() {
    this.#classes = new Map(
      downloadClasses.map((name) => [
        name,
        { share: downloadClassShares[name], tag: 0, reached: 0, callers: new Map(), waiting: new Set() },
      ]),
    )
  }

  /** Wishes that wait. */
  get length(): number {
    return this.#length
  }

  /** Slots that are held. */
  get held(): number {
    return this.#holdings.size
  }

  /** Wishes of one caller that wait, in all classes. */
  waitingOf(caller: string): number {
    return this.#waitingBy.get(caller) ?? 0
  }

  /** The last wish of whoever has the most of them, if those are more than so many. */
  lastOfMost(moreThan: number): Wish<T> | null {
    let most: string | null = null
    let count = moreThan
    for (const [caller, waiting] of this.#waitingBy) if (waiting > count) [most, count] = [caller, waiting]
    if (most === null) return null
    const last = [...this.#classes.values()].flatMap(({ callers }) => callers.get(most)?.wishes.at(-1) ?? [])
    return last.reduce<Wish<T> | null>(
      (one, other) => (one === null || other.sinceMs > one.sinceMs ? other : one),
      null,
    )
  }

  /** Callers who wish for something and hold fewer than `perCaller`, each with the number of slots that would help. */
  hungry(perCaller: number): ReadonlyMap<string, number> {
    const wanted = new Map<string, number>()
    for (const { waiting } of this.#classes.values())
      for (const { caller, wishes } of waiting) {
        const most = perCaller - (this.#heldBy.get(caller) ?? 0)
        if (most > 0) wanted.set(caller, Math.min(most, (wanted.get(caller) ?? 0) + wishes.length))
      }
    return wanted
  }

  add(wish: Wish<T>): void {
    const of = this.#class(wish.downloadClass)
    if (of.waiting.size === 0) of.tag = Math.max(of.tag, this.#reached)
    const account = this.#account(of, wish.caller)
    if (account.wishes.length === 0) {
      account.tag = Math.max(account.tag, of.reached)
      of.waiting.add(account)
    }
    const after = account.wishes.findLastIndex((each) => each.sinceMs <= wish.sinceMs)
    account.wishes.splice(after + 1, 0, wish)
    this.#length += 1
    this.#waitingBy.set(wish.caller, this.waitingOf(wish.caller) + 1)
  }

  /** Takes a wish back. False when it does not wait. */
  remove(wish: Wish<T>): boolean {
    const account = this.#class(wish.downloadClass).callers.get(wish.caller)
    const at = account?.wishes.indexOf(wish) ?? -1
    if (account === undefined || at === -1) return false
    this.#takeOut(account, at)
    this.#forgetIfIdle(account)
    return true
  }

  /**
   * Gives a slot to whose turn it is, among callers who hold fewer than `perCaller`, in whatever classes. Null when
   * nobody wishes.
   */
  take(nowMs: number, perCaller: number): Holding<T> | null {
    this.#chargeOverruns(nowMs)
    let next: Account<T> | null = null
    for (const of of this.#classes.values()) {
      if (next !== null && of.tag >= next.of.tag) continue
      next = this.#first(of, perCaller) ?? next
    }
    const wish = next?.wishes[0]
    if (next === null || wish === undefined) return null
    this.#takeOut(next, 0)
    this.#reached = Math.max(this.#reached, next.of.tag)
    next.of.reached = Math.max(next.of.reached, next.tag)
    next.held += 1
    this.#heldBy.set(next.caller, (this.#heldBy.get(next.caller) ?? 0) + 1)
    const holding = { wish, startedAtMs: nowMs, account: next, chargedMs: 0 }
    this.#holdings.set(holding, holding)
    charge(holding, wish.costMs)
    return holding
  }

  /** The slot is free again. Harmless when it was given back already. */
  end(holding: Holding<T>, nowMs: number): void {
    const open = this.#holdings.get(holding)
    if (open === undefined) return
    this.#holdings.delete(holding)
    charge(open, Math.max(0, nowMs - open.startedAtMs) - open.chargedMs)
    open.account.held -= 1
    const { caller } = open.account
    const left = (this.#heldBy.get(caller) ?? 1) - 1
    if (left === 0) this.#heldBy.delete(caller)
    else this.#heldBy.set(caller, left)
    this.#forgetIfIdle(open.account)
  }

  /** Who goes first in a class; the number of callers who wait is bounded, and so is this walk. */
  #first(of: ClassAccount<T>, perCaller: number): Account<T> | null {
    let best: Account<T> | null = null
    for (const account of of.waiting) {
      if ((this.#heldBy.get(account.caller) ?? 0) >= perCaller) continue
      if (best === null || account.tag < best.tag || (account.tag === best.tag && sinceOf(account) < sinceOf(best)))
        best = account
    }
    return best
  }

  #class(name: DownloadClass): ClassAccount<T> {
    const found = this.#classes.get(name)
    if (found === undefined) throw new Error(`there is no class ${name}`)
    return found
  }

  #account(of: ClassAccount<T>, caller: string): Account<T> {
    const known = of.callers.get(caller)
    if (known !== undefined) return known
    if (of.callers.size >= downloadCallersKept)
      for (const [name, { held, wishes }] of of.callers) if (held === 0 && wishes.length === 0) of.callers.delete(name)
    const account = { of, caller, tag: of.reached, held: 0, wishes: [] }
    of.callers.set(caller, account)
    return account
  }

  #takeOut(account: Account<T>, at: number): void {
    account.wishes.splice(at, 1)
    this.#length -= 1
    const left = this.waitingOf(account.caller) - 1
    if (left === 0) this.#waitingBy.delete(account.caller)
    else this.#waitingBy.set(account.caller, left)
    if (account.wishes.length === 0) account.of.waiting.delete(account)
  }

  /** Who took more than the others have yet is remembered until they have. */
  #forgetIfIdle(account: Account<T>): void {
    if (account.held === 0 && account.wishes.length === 0 && account.tag <= account.of.reached)
      account.of.callers.delete(account.caller)
  }

  /** Who holds a slot for longer than was charged pays while it lasts, not when it is over. */
  #chargeOverruns(nowMs: number): void {
    for (const holding of this.#holdings.values()) {
      const overrunMs = nowMs - holding.startedAtMs - holding.chargedMs
      if (overrunMs > 0) charge(holding, overrunMs)
    }
  }
}

const charge = <T>(holding: OpenHolding<T>, costMs: number): void => {
  holding.chargedMs += costMs
  holding.account.tag += costMs
  holding.account.of.tag += costMs / holding.account.of.share
}

const sinceOf = <T>(account: Account<T>): number => account.wishes[0]?.sinceMs ?? 0
