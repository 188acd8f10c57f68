import { everyCheck } from '../every-check.ts'
import { withParts } from './offline.ts'

/** Checks every invariant of a live or stopped store and says in words what it found. Ends with 1 when something is damaged. */
export const doctor = (): Promise<void> =>
  withParts(async (parts) => {
    let damaged = 0
    for await (const { kind, text } of everyCheck(parts)) {
      if (kind === 'damage') damaged += 1
      console.log(`${kind}: ${text}`)
    }
    console.log(damaged === 0 ? 'Everything is in order.' : `${damaged} things are damaged.`)
    if (damaged > 0) process.exitCode = 1
  })
