import { Tally } from './tally.ts'

/** A connection, as far as it counts. */
export interface Member {
  /** Where it comes from; null for a proxy that we trust, which speaks for many. */
  readonly network: string | null
  /**
   * Something is done for it: it has a request, which does not wait for its client to send the rest or take the answer.
   */
  readonly isBusy: boolean
  close(): void
}

/** Those who can make room stand in the order in which they have to. */
interface Network {
  /** And when they came. */
  readonly members: Map<Member, number>
  readonly lingering: Set<Member>
  /** Whose clients are waited for, or were when it was last looked at. */
  readonly waiting: Set<Member>
}

const kinds = ['lingering', 'waiting'] as const

/**
 * Seats and who has them. To make room, first goes what is only read and dropped, then whoever has been waited for for
 * longest: for a request, for the rest of one, or to take the answer. These are alike, since who comes is idle as well.
 *
 * Each step takes constant time, apart from requests that do not wait for their client any more: they are found out
 * when room is made, once each.
 */
export class Seats {
  readonly #mayGo: (member: Member) => boolean
  readonly #networks = new Map<string | null, Network>()
  /** Of members that may have to go. */
  readonly #tally = new Tally()
  #count = 0

  /**
   * `mayGo` is asked of those whose clients were waited for; who may not is told of by `wait` when that has changed.
   */
  constructor(mayGo: (member: Member) => boolean) {
    this.#mayGo = mayGo
  }

  get count(): number {
    return this.#count
  }

  countOf(network: string | null): number {
    return this.#networks.get(network)?.members.size ?? 0
  }

  take(member: Member, nowMs: number): void {
    const network = this.#networks.get(member.network) ?? {
      members: new Map(),
      lingering: new Set(),
      waiting: new Set(),
    }
    this.#networks.set(member.network, network)
    network.members.set(member, nowMs)
    this.#count += 1
    this.stand(member, 'waiting')
  }

  /** Nothing happens when it has none. */
  leave(member: Member): void {
    const network = this.#networks.get(member.network)
    if (network?.members.has(member) !== true) return
    this.stand(member, null)
    network.members.delete(member)
    this.#count -= 1
    if (network.members.size === 0) this.#networks.delete(member.network)
  }

  /** Where it stands among those who can go, at the end; null when it cannot. Nothing happens when it has no seat. */
  stand(member: Member, kind: (typeof kinds)[number] | null): void {
    const network = this.#networks.get(member.network)
    if (network?.members.has(member) !== true) return
    const stood = kinds.some((each) => network[each].delete(member))
    if (kind !== null) network[kind].add(member)
    if (member.network === null || stood === (kind !== null)) return
    if (stood) this.#tally.remove(member.network)
    else this.#tally.add(member.network)
  }

  /**
   * Of the network that has most who can go, one goes; proxies' go last. One who came after `cameByMs` stays if it is
   * the only one of its network, or a proxy's: it has to have time to ask. More of one network have no such moment, or
   * whoever comes in large numbers would be safe.
   */
  makeRoom(cameByMs: number): void {
    for (let name = this.#tally.most; name !== null; name = this.#tally.most)
      if (this.makeRoomOf(name, cameByMs) !== 'nobody') return
    this.makeRoomOf(null, cameByMs)
  }

  /** The same within one network. After `nobody` none of it stands among those who can go. */
  makeRoomOf(name: string | null, cameByMs: number): 'one' | 'too soon' | 'nobody' {
    const network = this.#networks.get(name)
    if (network === undefined) return 'nobody'
    for (const kind of kinds)
      for (const member of network[kind]) {
        if (kind === 'waiting' && !this.#mayGo(member)) {
          this.stand(member, null)
          continue
        }
        const isAlone = name === null || this.#tally.of(name) === 1
        const cameAtMs = network.members.get(member) ?? 0
        if (kind === 'waiting' && isAlone && cameAtMs > cameByMs) return 'too soon'
        this.leave(member)
        member.close()
        return 'one'
      }
    return 'nobody'
  }
}
