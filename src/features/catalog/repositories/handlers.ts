import type { Static } from 'typebox'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorFrom } from '../../../journal/actor.ts'
import { inOrder, type RepositoryAction } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { countedOnCardsMax, pageDefault } from '../../../kernel/limits/catalog.ts'
import { pageOf } from '../../../kernel/page.ts'
import * as operations from './operations.ts'
import { createRepository, deleteRepository, filledOf, listRepositories, type RepositoryDeps } from './repositories.ts'

export interface RepositoryHandlerDeps extends RepositoryDeps {
  /** How many of each format there are in repositories, of those that whoever holds these actions there may list. */
  readonly countsIn: (
    held: ReadonlyMap<string, ReadonlySet<RepositoryAction>>,
    most: number,
  ) => Promise<(repository: string) => readonly { readonly format: string; readonly count: number }[]>
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
  /** Repositories that the caller may see, after an id and ordered by id. */
  readonly visibleRepositories: (
    caller: Caller,
    after: string,
    limit: number,
  ) => Promise<{ repository: string; actions: ReadonlySet<RepositoryAction> }[]>
}

/** One more than is told is looked for. */
const countsOf = async (
  { countsIn }: RepositoryHandlerDeps,
  held: ReadonlyMap<string, ReadonlySet<RepositoryAction>>,
) => {
  const countsOfOne = await countsIn(held, countedOnCardsMax + 1)
  return (repository: string) =>
    countsOfOne(repository).map(({ format, count }) => ({
      format,
      count: Math.min(count, countedOnCardsMax),
      isMore: count > countedOnCardsMax,
    }))
}

const card = (id: string, held: ReadonlySet<RepositoryAction>): Static<typeof operations.RepositoryCard> => ({
  id,
  formats: ['upack', 'assets'],
  permissions: inOrder(held),
})

export const repositoryHandlers = (deps: RepositoryHandlerDeps): BoundOperation[] => [
  handle(operations.listRepositories, async ({ caller, query }) => {
    const limit = query.limit ?? pageDefault
    const found = await deps.visibleRepositories(caller, query.after ?? '', limit + 1)
    const listed = found.filter(({ actions }) => actions.has('artifact.list')).map(({ repository }) => repository)
    const filled = await filledOf(deps.database.reader, listed)
    const counts = await countsOf(deps, new Map(found.map(({ repository, actions }) => [repository, actions])))
    const show = ({ repository, actions }: (typeof found)[number]) => ({
      ...card(repository, actions),
      filled: filled(repository),
      counts: counts(repository),
    })
    return { status: 200, json: pageOf(found, limit, show, ({ repository }) => repository) }
  }),
  handle(operations.getRepository, async ({ caller, path }) => {
    const held = await deps.heldActions(caller, path.repository)
    const counts = (await countsOf(deps, new Map([[path.repository, held]])))(path.repository)
    const inUse = counts.map(({ format }) => format)
    const filled = await filledOf(deps.database.reader, held.has('artifact.list') ? [path.repository] : [])
    return { status: 200, json: { ...card(path.repository, held), filled: filled(path.repository), counts, inUse } }
  }),
  handle(operations.listAllRepositories, async ({ query }) => {
    const limit = query.limit ?? pageDefault
    const found = await listRepositories(deps, query.after ?? '', limit + 1)
    const show = ({ id, createdAt }: (typeof found)[number]) => ({ id, createdAt })
    return { status: 200, json: pageOf(found, limit, show, ({ id }) => id) }
  }),
  handle(operations.createRepository, async (input) => {
    const { caller, body } = input
    await createRepository(deps, body.id, actorFrom(input))
    return { status: 201, json: card(body.id, await deps.heldActions(caller, body.id)) }
  }),
  handle(operations.deleteRepository, async (input) => {
    await deleteRepository(deps, input.path.repository, actorFrom(input))
    return { status: 204, json: null }
  }),
]
