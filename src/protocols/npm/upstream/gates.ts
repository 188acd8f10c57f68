import { Failure } from '../../../kernel/failure.ts'
import { createGate, type Pass } from '../../../kernel/gate.ts'
import { npmUpstreamWaitingMax } from '../../../kernel/limits/npm-upstream.ts'

/** A gate for each host: what is slow at one keeps nobody from another. */
export type Gates = (upstream: string) => Pass

/** So many at once of each, as the door outwards counts them, too. There are as many as administrators have set. */
export const createGates = (atOnce: number): Gates => {
  const gates = new Map<string, Pass>()
  return (upstream) => {
    const { origin } = new URL(upstream)
    const before = gates.get(origin)
    if (before !== undefined) return before
    const full = (): Failure =>
      new Failure('busy', 'Too much is being fetched from the upstream registry at this moment. Try again.')
    const gate = createGate(atOnce, { waitingMax: npmUpstreamWaitingMax, full })
    gates.set(origin, gate)
    return gate
  }
}
