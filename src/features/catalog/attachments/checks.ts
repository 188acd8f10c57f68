import type { Database } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { attachmentsElsewhere, attachmentsWithoutBuild } from './attachments.queries.ts'
import { forgetAttachments } from './attachments.ts'

/** Proves that attachments belong to a build that is known, and name files of its repository. */
export async function* checkAttachments(database: Database): AsyncGenerator<Finding> {
  for (const { artifact_id: id } of await attachmentsWithoutBuild(database.reader, findingsMax))
    yield damage(`there are attachments of ${id}, of which nothing else is known`, async () => {
      while (await database.transaction((tx) => forgetAttachments(tx, id)));
    })
  for (const { repository, artifact_id, target_id } of await attachmentsElsewhere(database.reader, findingsMax))
    yield damage(`repository ${repository}: artifact ${artifact_id} has ${target_id} of another repository attached`)
}
