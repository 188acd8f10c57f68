/** A connection, as far as it counts. */
export interface Member {
  /** Where it comes from; null for a proxy that we trust, which speaks for many. */
  readonly network: string | null
  close(): void
}

export interface CrowdLimits {
  readonly most: number
  readonly perNetwork: number
  /** Of `most`, for those who ask how the service is when all others are taken. */
  readonly reserved: number
}

interface Network {
  readonly members: Set<Member>
  /** Those without a request, the one that has been so for longest first. */
  readonly idle: Set<Member>
}

/**
 * All connections of a server. Nobody shuts the others out by opening many: a network has a share, and whoever comes when it is
 * used up, or when there is no room at all, takes the place of a connection that does nothing; of the own network in the first
 * case, of the network with the most connections in the second. A connection is idle also while the head of its request
 * trickles in.
 */
export class Crowd {
  readonly #limits: CrowdLimits
  readonly #networks = new Map<string | null, Network>()
  #count = 0

  constructor(limits: CrowdLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#count
  }

  /** Takes a connection in, as an idle one. False when nobody could make room: it may only ask how the service is. */
  enter(member: Member): boolean {
    const network = this.#networks.get(member.network) ?? { members: new Set(), idle: new Set() }
    const { most, perNetwork, reserved } = this.#limits
    const lacksShare = (): boolean => member.network !== null && network.members.size >= perNetwork
    const lacksRoom = (): boolean => this.#count >= most - reserved
    if (lacksShare()) this.#closeIdle(network, 1)
    if (lacksRoom()) this.#makeRoom()
    const served = !lacksShare() && !lacksRoom()
    // It may have been forgotten with the last of its connections.
    this.#networks.set(member.network, network)
    network.members.add(member)
    network.idle.add(member)
    this.#count += 1
    return served
  }

  leave(member: Member): void {
    const network = this.#networks.get(member.network)
    if (network?.members.delete(member) !== true) return
    network.idle.delete(member)
    this.#count -= 1
    if (network.members.size === 0) this.#networks.delete(member.network)
  }

  /** It has a request now. */
  begin(member: Member): void {
    this.#networks.get(member.network)?.idle.delete(member)
  }

  /** It has none any more. */
  rest(member: Member): void {
    const network = this.#networks.get(member.network)
    if (network?.members.has(member) === true) network.idle.add(member)
  }

  /** Several at a time, so that the largest network is looked for once in many connections. Proxies' idle ones go last. */
  #makeRoom(): void {
    let largest: Network | null = null
    for (const [name, network] of this.#networks)
      if (name !== null && network.idle.size > 0 && (largest === null || network.members.size > largest.members.size))
        largest = network
    const from = largest ?? this.#networks.get(null)
    if (from !== undefined) this.#closeIdle(from, Math.ceil(from.idle.size / 16))
  }

  #closeIdle({ idle }: Network, count: number): void {
    let left = count
    for (const member of idle) {
      if (left === 0) return
      left -= 1
      this.leave(member)
      member.close()
    }
  }
}
