import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * One kind of fault: what was done, where, how often, and what came of it. A row of docs/operating/what-was-tried.md.
 */
export interface Tried {
  readonly what: string
  readonly where: string
  readonly rounds: number
  /** Acknowledged things that were read back, over all rounds. */
  readonly checked?: number
  readonly result: string
}

/** Writes what a run tried as `<name>.json` into the folder of SVC_TEST_TRIED, if it is set. */
export const tellTried = (name: string, rows: readonly Tried[]): void => {
  const folder = process.env['SVC_TEST_TRIED']
  if (folder === undefined || folder === '') return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(rows, null, 2)}\n`)
}

const deaths = new Map<string, number>()

/**
 * That a real process was killed at a named point of its work. All deaths of a test file are one row for each place
 * they were at.
 */
export const noteDeath = (where: string): void => {
  if (deaths.size === 0) process.once('exit', tellDeaths)
  deaths.set(where, (deaths.get(where) ?? 0) + 1)
}

const tellDeaths = (code: number): void => {
  const kept =
    'everything that was answered is kept, what was not is there whole or not at all, the doctor finds nothing'
  const rows = [...deaths].map(([where, rounds]) => ({
    what: 'killed at a named point of its work',
    where,
    rounds,
    result: code === 0 ? kept : 'a test of them failed',
  }))
  tellTried(`deaths-${basename(process.argv[1] ?? '')}-${process.pid}`, rows)
}
