import type { Queries } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { misplacedStages } from './stages.queries.ts'

/** Proves that stages stand where their files are. That the files exist, the database itself sees to. */
export async function* checkStages(q: Queries): AsyncGenerator<Finding> {
  for (const { repository, artifact_id, stage } of await misplacedStages(q, findingsMax))
    yield damage(`repository ${repository}: the stage ${stage} of artifact ${artifact_id} stands in another one`)
}
