import { everyCheck } from '../every-check.ts'
import { mendAll } from '../mending.ts'
import { withEngines } from './offline.ts'

/**
 * Checks every invariant of a live or stopped store and says in words what it found. `repair` puts right what can be
 * put right without losing anything, and looks again before it says so. Ends with 1 when something is damaged and stays
 * so.
 */
export const doctor = ({ repair = false }: { readonly repair?: boolean }): Promise<void> =>
  withEngines(
    async (engines) => {
      let damaged = 0
      let mendable = 0
      const tell = (kind: string, text: string): void => {
        if (kind === 'damage') damaged += 1
        console.log(`${kind}: ${text}`)
      }
      if (repair) for await (const { kind, text } of mendAll(engines)) tell(kind, text)
      else
        for await (const { kind, text, mend } of everyCheck(engines)) {
          if (mend !== null) mendable += 1
          tell(kind, text)
        }
      if (mendable > 0)
        console.log(`${mendable} of these can be put right without losing anything: svc doctor --repair`)
      console.log(damaged === 0 ? 'Everything is in order.' : `${damaged} things are damaged.`)
      if (damaged > 0) process.exitCode = 1
    },
    { duringImport: true },
  )
