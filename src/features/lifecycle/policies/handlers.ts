import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Queries, Transaction } from '../../../database/database.ts'
import { doerOf } from '../../../journal/doer.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import type { Deletion, DeletionParts } from '../deletion/deletion.ts'
import type { Eligibility } from '../deletion/eligibility.ts'
import { applyRetention as apply, retentionCandidates } from './criteria.ts'
import { decisionOnly, explainArtifact as explain } from './explain.ts'
import {
  applyRetention,
  explainArtifact,
  getStoragePolicy,
  previewRetention,
  previewStorageRun,
  putStoragePolicy,
  runStoragePolicy,
} from './operations.ts'
import { policyOf, savePolicy } from './policy.ts'
import { previewRun, runPolicy } from './run.ts'

export interface RetentionHandlerParts extends DeletionParts {
  readonly heldActionsIn: (q: Queries, caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

const candidate = ({ row, annotationRevision, blockers }: Eligibility) => ({
  id: row.id,
  name: row.name,
  size: String(row.size),
  publishedAt: row.published_at,
  annotationRevision,
  blockers,
})

const outcomesOf = (told: readonly Deletion[]) => ({
  items: told.map(({ id, outcome, blockers }) => ({ id, outcome, blockers })),
})

export const retentionHandlers = (parts: RetentionHandlerParts): BoundOperation[] => {
  const { reader } = parts.database
  return [
    handle(getStoragePolicy, async ({ path }) => ({ status: 200, json: await policyOf(reader, path.repository) })),
    handle(putStoragePolicy, async (input) => {
      const { repository } = input.path
      // What the pipeline cannot know: whether the policy is to be enabled stands in the body.
      const mayDelete = async (tx: Transaction, caller: Caller) =>
        (await parts.heldActionsIn(tx, caller, repository)).has('artifact.delete')
      return { status: 200, json: await savePolicy(parts, repository, input.body, doerOf(input), mayDelete) }
    }),
    handle(previewStorageRun, async ({ path }) => {
      const { revision, files, hasMore } = await previewRun(parts, path.repository)
      return { status: 200, json: { revision, items: files.map(candidate), hasMore } }
    }),
    handle(runStoragePolicy, async ({ path, body, caller }) => {
      const told = await runPolicy(parts, path.repository, body.expectedRevision, actorOf(caller))
      return { status: 200, json: outcomesOf(told) }
    }),
    handle(previewRetention, async ({ path, body }) => {
      const page = { after: body.after ?? '', limit: body.limit ?? pageDefault }
      const { items, next } = await retentionCandidates(parts, path.repository, body.criteria, page)
      return { status: 200, json: { items: items.map(candidate), next } }
    }),
    handle(applyRetention, async ({ path, body, caller }) => {
      const unwanted = body.items.map(({ id, expectedAnnotationRevision: annotationRevision }) => ({
        id,
        annotationRevision,
      }))
      const told = await apply(parts, path.repository, body.criteria, unwanted, actorOf(caller))
      return { status: 200, json: outcomesOf(told) }
    }),
    handle(explainArtifact, async ({ path, caller }) => {
      const told = await explain(reader, path.repository, path.id, parts.clock.now())
      const held = await parts.heldActionsIn(reader, caller, path.repository)
      return { status: 200, json: held.has('storage.read') ? told : decisionOnly(told) }
    }),
  ]
}
