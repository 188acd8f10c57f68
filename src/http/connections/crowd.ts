import type { Timers } from '../../kernel/timers.ts'
import { type Member, Seats } from './seats.ts'

export interface CrowdLimits {
  readonly most: number
  readonly perNetwork: number
  /** Of `most`, for those who ask how the service is when all others are taken. */
  readonly reserved: number
  /** For which who has come alone is left its seat, so that its request can come. */
  readonly momentMs: number
}

/**
 * All connections of a server. Nobody shuts the others out by opening many: a network has a share, and whoever comes
 * when it is used up, or when there is no room at all, takes the seat of a connection for which we do nothing; of the
 * own network in the first case, of the one that has most such connections in the second.
 *
 * Where nobody can go, or only who has just come, there is the reserve: whoever is there may ask how the service is,
 * which takes no time, so that all of it can go. It is full with one seat free, since Node itself turns away who comes
 * when there is none; then who has waited there for longest goes, of the network that has most of it.
 */
export class Crowd {
  readonly #limits: CrowdLimits
  readonly #clock: Pick<Timers, 'now'>
  readonly #served = new Seats((member) => !member.isBusy)
  readonly #reserve = new Seats(() => true)

  constructor(limits: CrowdLimits, clock: Pick<Timers, 'now'>) {
    this.#limits = limits
    this.#clock = clock
  }

  get count(): number {
    return this.#served.count + this.#reserve.count
  }

  /**
   * Takes a connection in, and waits for its client. False when nobody could make room: it may only ask how the service
   * is.
   */
  enter(member: Member): boolean {
    const { network } = member
    const { most, perNetwork, reserved, momentMs } = this.#limits
    const nowMs = this.#clock.now()
    const lacksShare = (): boolean => network !== null && this.#served.countOf(network) >= perNetwork
    const lacksRoom = (): boolean => this.#served.count >= most - reserved
    if (lacksShare()) this.#served.makeRoomOf(network, nowMs - momentMs)
    // Not for one who could not take it.
    if (!lacksShare() && lacksRoom()) this.#served.makeRoom(nowMs - momentMs)
    const served = !lacksShare() && !lacksRoom()
    if (!served && this.#reserve.count >= reserved - 1) this.#reserve.makeRoom(nowMs)
    const seats = served ? this.#served : this.#reserve
    seats.take(member, nowMs)
    return served
  }

  leave(member: Member): void {
    for (const seats of [this.#served, this.#reserve]) seats.leave(member)
  }

  /** Its client is waited for from now on, as it is at the beginning and at the end of each request. */
  wait(member: Member): void {
    for (const seats of [this.#served, this.#reserve]) seats.stand(member, 'waiting')
  }

  /** What comes from it is dropped. */
  linger(member: Member): void {
    for (const seats of [this.#served, this.#reserve]) seats.stand(member, 'lingering')
  }
}
