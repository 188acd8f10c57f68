import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Queries, Transaction } from '../../../database/database.ts'
import { actorFrom } from '../../../journal/actor.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { applyRetention, retentionCandidates } from './criteria.ts'
import { explainArtifact } from './explain.ts'
import * as operations from './operations.ts'
import { policyOf, savePolicy } from './policy.ts'
import { decisionOnly } from './reasons.ts'
import { previewRun, type RunDeps, runPolicy } from './run.ts'
import {
  candidate,
  imageCandidate,
  imageOutcomesOf,
  npmVersionCandidate,
  npmVersionOutcomesOf,
  outcomesOf,
} from './views.ts'

export interface RetentionHandlerDeps extends RunDeps {
  readonly heldActionsIn: (q: Queries, caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export const retentionHandlers = (deps: RetentionHandlerDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.getStoragePolicy, async ({ path }) => ({
      status: 200,
      json: await policyOf(reader, path.repository),
    })),
    handle(operations.putStoragePolicy, async (input) => {
      const { repository } = input.path
      // What the pipeline cannot know: whether the policy is to be enabled stands in the body.
      const mayDelete = async (tx: Transaction, caller: Caller) =>
        (await deps.heldActionsIn(tx, caller, repository)).has('artifact.delete')
      return { status: 200, json: await savePolicy(deps, repository, input.body, actorFrom(input), mayDelete) }
    }),
    handle(operations.previewStorageRun, async ({ path }) => {
      const { revision, files, things, hasMore } = await previewRun(deps, path.repository)
      const json = {
        ...{ revision, items: files.map(candidate), hasMore },
        images: things.images.map(imageCandidate),
        npmVersions: things.npmVersions.map(npmVersionCandidate),
      }
      return { status: 200, json }
    }),
    handle(operations.runStoragePolicy, async ({ path, body, caller }) => {
      const { files, things } = await runPolicy(deps, path.repository, body.expectedRevision, actorOf(caller))
      const json = {
        ...outcomesOf(files),
        images: imageOutcomesOf(things.images),
        npmVersions: npmVersionOutcomesOf(things.npmVersions),
      }
      return { status: 200, json }
    }),
    handle(operations.previewRetention, async ({ path, body }) => {
      const page = { after: body.after ?? '', limit: body.limit ?? pageDefault }
      const { items, next } = await retentionCandidates(deps, path.repository, body.criteria, page)
      return { status: 200, json: { items: items.map(candidate), next } }
    }),
    handle(operations.applyRetention, async ({ path, body, caller }) => {
      const unwanted = body.items.map(({ id, expectedAnnotationRevision: annotationRevision }) => ({
        id,
        annotationRevision,
      }))
      const told = await applyRetention(deps, path.repository, body.criteria, unwanted, actorOf(caller))
      return { status: 200, json: outcomesOf(told) }
    }),
    handle(operations.explainArtifact, async ({ path, caller }) => {
      const told = await explainArtifact(reader, path.repository, path.id, deps.clock.now())
      const held = await deps.heldActionsIn(reader, caller, path.repository)
      return { status: 200, json: held.has('storage.read') ? told : { id: told.id, ...decisionOnly(told) } }
    }),
  ]
}
