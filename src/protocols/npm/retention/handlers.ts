import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { decisionOnly } from '../../../features/lifecycle/policies/reasons.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { explainNpmVersion } from './explain.ts'
import * as operations from './operations.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export const npmRetentionHandlers = ({ database, clock, heldActions }: Deps): BoundOperation[] => [
  handle(operations.explainNpmVersion, async ({ path, query, caller }) => {
    const asked = { repository: path.repository, name: query.package, called: query.version }
    const told = await explainNpmVersion(database.reader, asked, clock.now())
    const mayKnowWhy = (await heldActions(caller, path.repository)).has('storage.read')
    const which = { package: told.package, version: told.version }
    return { status: 200, json: mayKnowWhy ? told : { ...which, ...decisionOnly(told) } }
  }),
]
