import type { Database } from '../../../database/database.ts'
import { damage, type Finding } from '../../../kernel/finding.ts'
import { findingsMax } from '../../../kernel/limits/upkeep.ts'
import { annotationsOfNothing } from './annotations.queries.ts'
import { forgetAnnotations } from './annotations.ts'

/** Proves that annotations belong to files that are there or can be brought back. */
export async function* checkAnnotations(database: Database): AsyncGenerator<Finding> {
  for (const { artifact_id } of await annotationsOfNothing(database.reader, findingsMax)) {
    const forget = (): Promise<void> => database.transaction((tx) => forgetAnnotations(tx, artifact_id))
    yield damage(`the annotations of ${artifact_id} belong to no file that is there or can be brought back`, forget)
  }
}
