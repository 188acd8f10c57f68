import type { ServeDeps } from '../../../content/serve/serve.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { pageWithActorNames, withActorNames } from '../../../journal/names.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { createGate } from '../../../kernel/gate.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { openedAtOnce } from '../../../kernel/limits/oci.ts'
import { type DeletingDeps, deleteManifest, deleteTag } from '../deleting.ts'
import { toDigest } from '../vocabulary.ts'
import type { KeepingDeps } from './kept-until.ts'
import { imagesOf } from './listing.ts'
import { removedTags, tagMoves } from './moves.ts'
import { openManifest } from './opened.ts'
import * as operations from './operations.ts'
import { referrerPage } from './referring.ts'
import { moveTag } from './setting.ts'
import { tagsOfImage } from './tags.ts'

interface ImageDeps extends ServeDeps, KeepingDeps, DeletingDeps {
  readonly database: Database
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

interface Asked {
  readonly path: { readonly repository: string }
  readonly query: { readonly image: string }
}

const imageOf = ({ path, query }: Asked) => ({ repository: path.repository, name: query.image })

const pageAsked = ({
  contains = '',
  after,
  limit = pageDefault,
}: {
  readonly contains?: string
  readonly after?: string
  readonly limit?: number
}) => ({ part: contains, after, limit })

export const imageHandlers = (deps: ImageDeps): BoundOperation[] => {
  const { reader } = deps.database
  const opening = { ...deps, opening: createGate(openedAtOnce) }
  return [
    handle(operations.listRepositoryImages, async ({ path, query }) => ({
      status: 200,
      json: await imagesOf(reader, path.repository, pageAsked(query)),
    })),
    handle(operations.listImageTags, async (input) => {
      const { order = 'name' } = input.query
      const page = await tagsOfImage(reader, imageOf(input), { ...pageAsked(input.query), order })
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.listRemovedTags, async (input) => {
      const page = await removedTags(deps, imageOf(input), pageAsked(input.query))
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.setImageTag, async ({ path, body, caller }) => {
      const scope = { repository: path.repository, name: body.image, owner: actorOf(caller) }
      const wanted = { tag: body.tag, digest: toDigest(body.digest), expected: body.expectedDigest }
      return { status: 200, json: await named(await moveTag(deps, scope, wanted)) }
    }),
    handle(operations.deleteImageTag, async (input) => {
      const { tag, expectedDigest } = input.query
      await deleteTag(deps, { ...imageOf(input), owner: actorOf(input.caller) }, tag, expectedDigest)
      return { status: 204, json: null }
    }),
    handle(operations.listTagMoves, async (input) => {
      const { tag, before, limit = pageDefault } = input.query
      const page = await tagMoves(deps, imageOf(input), { tag, before, limit })
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
    handle(operations.getImageManifest, async (input) => {
      const { path, query, caller } = input
      const held = await deps.heldActions(caller, path.repository)
      const mayReadContent = held.has('content.read')
      const opened = await openManifest(opening, imageOf(input), query.reference, mayReadContent)
      return { status: 200, json: await named(opened) }
    }),
    handle(operations.deleteImageManifest, async (input) => {
      const scope = { ...imageOf(input), owner: actorOf(input.caller) }
      await deleteManifest(deps, scope, toDigest(input.query.digest))
      return { status: 204, json: null }
    }),
    handle(operations.listImageReferrers, async (input) => {
      const { digest, artifactType, after, limit = pageDefault } = input.query
      const asked = { subject: toDigest(digest), artifactTypes: artifactType, after, limit }
      const page = await referrerPage(reader, imageOf(input), asked)
      return { status: 200, json: await pageWithActorNames(reader, page) }
    }),
  ]

  async function named<One extends { readonly actor: string }>(one: One) {
    const [line] = await withActorNames(reader, [one])
    return { ...one, actorName: line?.actorName ?? null }
  }
}
