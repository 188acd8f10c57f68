import { type BoundOperation, handle } from '../../contract/handler.ts'
import type { RepositoryAction } from '../../kernel/actions.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import { Failure } from '../../kernel/failure.ts'
import { pageDefault } from '../../kernel/limits.ts'
import type { Deletion, DeletionParts } from '../artifacts/deletion.ts'
import type { Eligibility } from '../artifacts/eligibility.ts'
import { applyRetention as apply, retentionCandidates } from './criteria.ts'
import { explainArtifact as explain } from './explain.ts'
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
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
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
  /** What the pipeline cannot know: whether the policy is to be enabled stands in the body. */
  const mayEnable = async (caller: Caller, repository: string): Promise<void> => {
    if (!(await parts.heldActions(caller, repository)).has('artifact.delete'))
      throw new Failure('permission_missing', 'Enabling a policy needs artifact.delete on this repository as well.')
  }
  return [
    handle(getStoragePolicy, async ({ path }) => ({ status: 200, json: await policyOf(reader, path.repository) })),
    handle(putStoragePolicy, async ({ path, body, caller }) => {
      if (body.policy.enabled) await mayEnable(caller, path.repository)
      const saver = { actor: actorOf(caller), keyId: caller.kind === 'service-key' ? caller.keyId : null }
      return { status: 200, json: await savePolicy(parts, path.repository, body, saver) }
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
    handle(explainArtifact, async ({ path }) => ({
      status: 200,
      json: await explain(reader, path.repository, path.id, parts.clock.now()),
    })),
  ]
}
