import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { pageWithActorNames } from '../../../journal/names.ts'
import { actorOf } from '../../../kernel/caller.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { attachmentHistory, currentAttachments, replaceAttachments } from './attachments.ts'
import * as operations from './operations.ts'

export const attachmentHandlers = (deps: { database: Database; clock: Clock }): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.getAttachments, async ({ path }) => ({
      status: 200,
      json: await currentAttachments(reader, path.repository, path.id),
    })),
    handle(operations.putAttachments, async ({ path, body, caller }) => {
      const items = body.items.map((item) => ({ ...item, description: item.description ?? '' }))
      const wanted = { expectedRevision: body.expectedRevision, items }
      return { status: 200, json: await replaceAttachments(deps, path, wanted, actorOf(caller)) }
    }),
    handle(operations.listAttachmentHistory, async ({ path, query }) => ({
      status: 200,
      json: await pageWithActorNames(reader, await attachmentHistory(reader, path.repository, path.id, query.before)),
    })),
  ]
}
