import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/** What a fault was tried on, and what came of it: a row of docs/operating/what-was-tried.md. */
export interface Outcome {
  /** What was done to the service. */
  readonly what: string
  /** Engine and store. */
  readonly where: string
  readonly rounds: number
  /** Acknowledged things that were looked at afterwards, over all rounds. */
  readonly checked: number
  readonly result: 'kept' | 'failed'
}

/** Writes the row where SVC_TEST_OUTCOMES says, for scripts/what-was-tried.ts. Without it nothing is written. */
export const tellOutcome = (outcome: Outcome): void => {
  const folder = process.env['SVC_TEST_OUTCOMES']
  if (folder === undefined || folder === '') return
  mkdirSync(folder, { recursive: true })
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(outcome)}\n`)
}
