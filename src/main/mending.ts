import type { CheckedDeps } from '../content/checks/checks.ts'
import type { Check } from '../contract/slice.ts'
import { DatabaseUnavailable } from '../database/unavailable.ts'
import type { Finding } from '../kernel/finding.ts'
import { findingsMax } from '../kernel/limits/upkeep.ts'
import { checks, findingsOf } from './every-check.ts'

/** What became of what a check found. */
export interface Outcome {
  readonly kind: Finding['kind'] | 'mended'
  readonly text: string
}

/**
 * Looks, puts right what can be, and looks again: `mended` is only what the second look does not find any more. A check
 * shows no more than so many findings at a time, and mending one may uncover another, so that this goes on until a look
 * finds nothing new to mend. What is left is damage.
 */
export async function* mendAll(
  deps: CheckedDeps,
  all: readonly Check<CheckedDeps>[] = checks,
): AsyncGenerator<Outcome> {
  for (const check of all) yield* mendOne(check, deps)
}

async function* mendOne(check: Check<CheckedDeps>, deps: CheckedDeps): AsyncGenerator<Outcome> {
  /** What was mended once, and why that failed where it did. */
  const tried = new Map<string, string>()
  const told = new Set<string>()
  for (let round = 1; ; round++) {
    const left: Outcome[] = []
    const found = new Set<string>()
    const mends: [text: string, mend: () => Promise<void>][] = []
    for await (const { kind, text, mend } of findingsOf(check, deps)) {
      found.add(text)
      if (mend !== null && !tried.has(text) && round <= findingsMax) mends.push([text, mend])
      else left.push({ kind, text: text + (tried.get(text) ?? '') })
    }
    for (const text of tried.keys())
      if (!found.has(text) && !told.has(text)) {
        told.add(text)
        yield { kind: 'mended', text }
      }
    if (mends.length === 0) return yield* left
    for (const [text, mend] of mends) tried.set(text, await outcomeOf(mend))
  }
}

/** Nothing, or why it failed: the next look tells what it was for, with that. */
const outcomeOf = async (mend: () => Promise<void>): Promise<string> => {
  try {
    await mend()
    return ''
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    return ` (putting it right failed: ${error instanceof Error ? error.message : String(error)})`
  }
}
