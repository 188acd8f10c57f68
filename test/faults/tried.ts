import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One kind of fault: what was done, where, how often, and what came of it. A row of docs/operating/what-was-tried.md. */
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
