import { lookup as lookUp } from 'node:dns/promises'
import { isIP } from 'node:net'
import { createGate } from '../../kernel/gate.ts'
import { outboundLookupsAtOnceMax } from '../../kernel/limits/outbound.ts'
import { type Attempt, failed } from './failures.ts'
import { type Networks, refusalOf } from './networks.ts'

export interface Resolved {
  readonly address: string
  readonly family: number
}

/** Asks the system for all addresses of a name, as other programs on the machine would get them. */
export type Lookup = (name: string) => Promise<readonly Resolved[]>

const systemLookup: Lookup = (name) => lookUp(name, { all: true })

/** Addresses of a host that were looked at, and may be connected to. */
export type Resolve = (host: string, attempt: Attempt) => Promise<readonly Resolved[]>

/**
 * Resolves a host once and looks at every address of it. One that is out of bounds is enough to refuse the name: who
 * gives both out means the other one.
 */
export const createResolver = (allowed: Networks, lookup: Lookup = systemLookup): Resolve => {
  const pass = createGate(outboundLookupsAtOnceMax)
  const underWay = new Map<string, Promise<readonly Resolved[]>>()
  /** One question for all who have it at a time; its answer is used once. */
  const lookedUp = (name: string): Promise<readonly Resolved[]> => {
    const asked =
      underWay.get(name) ??
      pass(() => lookup(name)).finally(() => {
        underWay.delete(name)
      })
    underWay.set(name, asked)
    return asked
  }
  return async (host, attempt) => {
    const family = isIP(host)
    const found = family === 0 ? await lookedUp(host) : [{ address: host, family }]
    attempt.addresses = found.map(({ address }) => address)
    for (const { address } of found) {
      const refusal = refusalOf(address, allowed)
      if (refusal !== null) throw failed(attempt, 'blocked', `${address} ${refusal}, and that is not allowed`)
    }
    if (found.length === 0) throw failed(attempt, 'network', 'there is no such name')
    return found
  }
}
