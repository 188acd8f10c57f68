import { Tally } from './tally.ts'

/** A connection, as far as it counts. */
export interface Member {
  /** Where it comes from; null for a proxy that we trust, which speaks for many. */
  readonly network: string | null
  /** Something is done for it: it has a request, which does not wait for its client to send the rest or take the answer. */
  readonly isBusy: boolean
  close(): void
}

export interface CrowdLimits {
  readonly most: number
  readonly perNetwork: number
  /** Of `most`, for those who ask how the service is when all others are taken. */
  readonly reserved: number
}

/** Those who can make room stand in the order in which they have to. */
interface Network {
  readonly members: Set<Member>
  readonly lingering: Set<Member>
  /** Whose clients are waited for, or were when it was last looked at. */
  readonly waiting: Set<Member>
}

const kinds = ['lingering', 'waiting'] as const

const noMembers = (): Network => ({ members: new Set(), lingering: new Set(), waiting: new Set() })

/**
 * All connections of a server. Nobody shuts the others out by opening many: a network has a share, and whoever comes when it is
 * used up, or when there is no room at all, takes the place of a connection for which we do nothing; of the own network in the
 * first case, of the one that has most such connections in the second. First goes what is only read and dropped, then whoever
 * has been waited for for longest: for a request, for the rest of one, or to take the answer. These are alike, since who comes is
 * idle as well, and needs the time to ask.
 *
 * Each step takes constant time, apart from requests that do not wait for their client any more: they are found out when room
 * is made, once each.
 */
export class Crowd {
  readonly #limits: CrowdLimits
  readonly #networks = new Map<string | null, Network>()
  /** Of members that may have to go. */
  readonly #tally = new Tally()
  #count = 0

  constructor(limits: CrowdLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#count
  }

  /** Takes a connection in, and waits for its client. False when nobody could make room: it may only ask how the service is. */
  enter(member: Member): boolean {
    const network = this.#networks.get(member.network) ?? noMembers()
    const { most, perNetwork, reserved } = this.#limits
    const lacksShare = (): boolean => member.network !== null && network.members.size >= perNetwork
    const lacksRoom = (): boolean => this.#count >= most - reserved
    if (lacksShare()) this.#closeOne(network)
    if (lacksRoom()) this.#makeRoom()
    const served = !lacksShare() && !lacksRoom()
    // It may have been forgotten with the last of its connections.
    this.#networks.set(member.network, network)
    network.members.add(member)
    this.#count += 1
    this.wait(member)
    return served
  }

  leave(member: Member): void {
    const network = this.#networks.get(member.network)
    if (network?.members.has(member) !== true) return
    this.#stand(member, null)
    network.members.delete(member)
    this.#count -= 1
    if (network.members.size === 0) this.#networks.delete(member.network)
  }

  /** Its client is waited for from now on, as it is at the beginning and at the end of each request. */
  wait(member: Member): void {
    this.#stand(member, 'waiting')
  }

  /** What comes from it is dropped. */
  linger(member: Member): void {
    this.#stand(member, 'lingering')
  }

  #stand(member: Member, kind: (typeof kinds)[number] | null): void {
    const network = this.#networks.get(member.network)
    if (network?.members.has(member) !== true) return
    const stood = kinds.some((each) => network[each].delete(member))
    if (kind !== null) network[kind].add(member)
    if (member.network === null || stood === (kind !== null)) return
    if (stood) this.#tally.remove(member.network)
    else this.#tally.add(member.network)
  }

  /** Proxies' connections go last. */
  #makeRoom(): void {
    for (let name = this.#tally.most; name !== null; name = this.#tally.most) {
      const network = this.#networks.get(name)
      if (network !== undefined && this.#closeOne(network)) return
    }
    const proxies = this.#networks.get(null)
    if (proxies !== undefined) this.#closeOne(proxies)
  }

  /** False when nobody in it can go; then nobody in it stands among those who can. */
  #closeOne(network: Network): boolean {
    for (const kind of kinds)
      for (const member of network[kind]) {
        if (kind === 'waiting' && member.isBusy) {
          this.#stand(member, null)
          continue
        }
        this.leave(member)
        member.close()
        return true
      }
    return false
  }
}
