import type { Scope } from '../../kernel/scope.ts'
import { Tally } from './tally.ts'

/**
 * Requests under way that came by proxies which are trusted. Their connections have no share, since they speak for
 * many; so each network that they speak for has one of the requests.
 */
export class Proxied {
  readonly #perNetwork: number
  readonly #underWay = new Tally()

  constructor(perNetwork: number) {
    this.#perNetwork = perNetwork
  }

  /** True when the request has a seat, until its scope ends; false when its network has all that it may. */
  enter(scope: Scope, network: string): boolean {
    if (this.#underWay.of(network) >= this.#perNetwork) return false
    this.#underWay.add(network)
    scope.own(() => this.#underWay.remove(network))
    return true
  }
}
