import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { actorOf } from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { immutableTagsOf, saveImmutableTags } from './immutable-tags.ts'
import * as operations from './operations.ts'

interface Deps {
  readonly database: Database
  readonly clock: Clock
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
]
