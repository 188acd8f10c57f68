import { checkContent } from '../../content/checks.ts'
import { checkAccounts } from '../../features/accounts/checks.ts'
import { checkArtifacts } from '../../features/artifacts/checks.ts'
import { checkAssets } from '../../features/assets/checks.ts'
import type { Finding } from '../../kernel/finding.ts'
import type { Parts } from '../parts.ts'
import { withParts } from './offline.ts'

async function* everyCheck({ database, store }: Parts): AsyncGenerator<Finding> {
  yield* checkContent({ database, store })
  yield* checkArtifacts(database.reader)
  yield* checkAssets(database.reader)
  yield* checkAccounts(database.reader)
}

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
