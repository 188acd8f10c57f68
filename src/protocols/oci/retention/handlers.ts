import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { decisionOnly } from '../../../features/lifecycle/policies/reasons.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { explainImage } from './explain.ts'
import { immutableTagsOf, saveImmutableTags } from './immutable-tags.ts'
import * as operations from './operations.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export const imageRetentionHandlers = (deps: Deps): BoundOperation[] => [
  handle(operations.getImmutableTags, async ({ path }) => ({
    status: 200,
    json: await immutableTagsOf(deps.database.reader, path.repository),
  })),
  handle(operations.putImmutableTags, async ({ path, body, caller }) => ({
    status: 200,
    json: await saveImmutableTags(deps, path.repository, body, actorOf(caller)),
  })),
  handle(operations.explainImage, async ({ path, query, caller }) => {
    const told = await explainImage(deps.database.reader, { ...path, ...query }, deps.clock.now())
    const { image, digest } = told
    const reasons = (await deps.heldActions(caller, path.repository)).has('storage.read')
    return { status: 200, json: reasons ? told : { image, digest, ...decisionOnly(told) } }
  }),
]
