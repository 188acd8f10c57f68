import { setImmediate as nextRound } from 'node:timers/promises'
import type { Queries, Transaction } from '../../../database/database.ts'
import { retentionItemsMax } from '../../../kernel/limits/lifecycle.ts'
import type { ImageBlocker, ImageOutcome, KeepRules } from './vocabulary.ts'

/** An image that a policy would delete: a manifest, by the name that it is below. */
export interface UnwantedImage {
  readonly id: string
  readonly image: string
  readonly digest: string
  /** When its newest tag came to it. */
  readonly taggedAt: string
}

/** The same as it is shown. */
export interface ShownImage extends UnwantedImage {
  /** In order; the first ones where there are many. */
  readonly tags: readonly string[]
}

/** What became of it. */
export interface ImageTold extends Pick<UnwantedImage, 'id' | 'image' | 'digest'> {
  readonly outcome: ImageOutcome
  readonly blockers: readonly ImageBlocker[]
}

/** Images that are to go, and in whose name. */
interface ImageRemoval {
  readonly rules: KeepRules
  readonly images: readonly UnwantedImage[]
  readonly actor: string
  readonly nowMs: number
}

/**
 * A kind of things that policies keep and delete beside package versions. The formats that have such things say how;
 * main hands them to the policies, which import no format.
 */
export interface KeptKind {
  /** What the policy would delete now, the oldest of each group first, some at a time. */
  readonly look: (
    q: Queries,
    repository: string,
    rules: KeepRules,
    nowMs: number,
  ) => AsyncIterable<readonly UnwantedImage[]>
  readonly show: (q: Queries, images: readonly UnwantedImage[]) => Promise<readonly ShownImage[]>
  /**
   * Deletes those that may still go, judged again under the lock of the repository, which the caller has taken. Tells
   * of each in the order asked; what comes to be too much for one transaction is left out, and is `partly` gone if it
   * was begun.
   */
  readonly remove: (tx: Transaction, repository: string, removal: ImageRemoval) => Promise<readonly ImageTold[]>
}

/** What a look found of one kind. */
export interface Selected {
  readonly kind: KeptKind
  readonly images: readonly UnwantedImage[]
}

/** The images of all kinds that one run deletes, and whether there are more. */
export const selectImages = async (
  kinds: readonly KeptKind[],
  ...[q, repository, rules, nowMs]: Parameters<KeptKind['look']>
): Promise<{ readonly selected: readonly Selected[]; readonly hasMore: boolean }> => {
  const selected: Selected[] = []
  let room = retentionItemsMax
  for (const kind of kinds) {
    const images: UnwantedImage[] = []
    selected.push({ kind, images })
    for await (const some of kind.look(q, repository, rules, nowMs)) {
      images.push(...some.slice(0, room))
      if (some.length > room) return { selected, hasMore: true }
      room -= some.length
      await nextRound()
    }
  }
  return { selected, hasMore: false }
}

/** How many images a run deleted, and how many were to go and stayed. */
export interface ImageCount {
  readonly deleted: number
  readonly kept: number
}

export const noImages: ImageCount = { deleted: 0, kept: 0 }

export const countTold = ({ deleted, kept }: ImageCount, told: readonly ImageTold[]): ImageCount => {
  const gone = told.filter(({ outcome }) => outcome === 'deleted').length
  const begun = told.filter(({ outcome }) => outcome === 'partly').length
  return { deleted: deleted + gone, kept: kept + told.length - gone - begun }
}
