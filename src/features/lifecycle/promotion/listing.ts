import type { Database } from '../../../database/database.ts'
import { pageWithActorNames } from '../../../journal/names.ts'
import { promotionPage, seenBy } from '../../../journal/repository/promotions.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import type { Order } from '../../../kernel/order.ts'
import { stretchAfter } from '../../../kernel/sequence.ts'

export interface PromotionListingDeps {
  readonly database: Database
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export interface PromotionsAsked {
  readonly after?: string
  readonly order?: Order
  readonly limit?: number
}

/**
 * A page of the promotion journal of a repository, of one of its files or manifests where that is given, as the caller
 * may see it (I8).
 */
export const promotionsFor = async (
  { database, heldActions }: PromotionListingDeps,
  caller: Caller,
  of: { readonly repository: string; readonly artifactId: string | null },
  { after, order, limit = pageDefault }: PromotionsAsked,
) => {
  const { items, next } = await promotionPage(database, of, stretchAfter(order, after), limit)
  const seen = await seenBy(items, async (peer) => {
    const held = await heldActions(caller, peer)
    return { repository: held.size > 0, artifact: held.has('artifact.read') }
  })
  return pageWithActorNames(database.reader, { items: seen, next })
}
