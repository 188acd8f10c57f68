import type { Transaction } from '../../../database/database.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type Agreement, type Annotations, annotationsOf, say } from './annotations.ts'

/**
 * A file goes, and another one with the same bytes stays in its place: what was said of the one is said of the other,
 * and nothing that anybody said is lost. Where both were annotated since they said the same, and neither says all that
 * the other does, it is refused with 409 `source_not_deletable`. The caller holds the locks of both repositories. The
 * revisions at which they last said the same afterwards.
 */
export const carryAnnotations = async (
  tx: Transaction,
  source: ArtifactsTable,
  copy: ArtifactsTable,
  agreed: Agreement | null,
  by: { readonly actor: string; readonly now: string },
): Promise<Agreement | null> => {
  const [here, there] = [await annotationsOf(tx, source), await annotationsOf(tx, copy)]
  const now = { source: here.revision, copy: there.revision }
  const [saidThere, saidHere] = [says(there, here), says(here, there)]
  if (saidThere && saidHere) return now
  if (here.revision === agreed?.source) return agreed
  if (there.revision !== agreed?.copy && !saidHere) {
    if (saidThere) return agreed
    throw new Failure(
      'source_not_deletable',
      `The source and ${copy.id}, which is its copy, were annotated apart. Give the copy what is said of the source, then move it.`,
    )
  }
  await say(tx, copy, { ...here, revision: there.revision + 1 }, by)
  return { source: here.revision, copy: there.revision + 1 }
}

/** Whether the first say all that the second do. */
const says = (all: Annotations, some: Annotations): boolean =>
  some.labels.every((label) => all.labels.includes(label)) &&
  some.collections.every((collection) => all.collections.includes(collection)) &&
  Object.entries(some.metadata).every(([key, value]) => Object.hasOwn(all.metadata, key) && all.metadata[key] === value)
