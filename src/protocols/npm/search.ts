import type { Queries } from '../../database/database.ts'
import { timestamp } from '../../kernel/clock.ts'
import { foldCase } from '../../kernel/fold-case.ts'
import {
  npmSearchFromMax,
  npmSearchMaxCharacters,
  npmSearchPageDefault,
  npmSearchPageMax,
} from '../../kernel/limits/npm.ts'
import { type Fields, objectOf } from './fields.ts'
import { plainText } from './publishing/claimed.ts'
import { countFound, foundPackages } from './search.queries.ts'

export interface Searched {
  readonly text?: string | undefined
  readonly size?: number | undefined
  readonly from?: number | undefined
}

interface FoundPackage {
  readonly package: Fields
  readonly score: Readonly<Record<'final', number>> & { readonly detail: Readonly<Record<string, number>> }
  readonly searchScore: number
}

/** Words that are no words: npm lets people say more of what they look for. */
const qualifier = /^(?:not:|is:|boost-exact:|keywords:|author:|maintainer:|scope:)/

/** Packages in whose names, descriptions or keywords all words of a text stand, by name; `time` is of the newest. */
export const searchPackages = async (
  q: Queries,
  repository: string,
  { text = '', size = npmSearchPageDefault, from = 0 }: Searched,
): Promise<{ readonly objects: FoundPackage[]; readonly total: number; readonly time: string }> => {
  const words = foldCase(plainText(text.slice(0, npmSearchMaxCharacters)))
    .split(/\s+/)
    .map((word) => word.replace(qualifier, ''))
    .filter((word) => word !== '')
  const [total, rows] = [
    await countFound(q, repository, words),
    await foundPackages(q, repository, words, {
      from: Math.min(from, npmSearchFromMax),
      limit: Math.min(size, npmSearchPageMax),
    }),
  ]
  const objects = rows.map(({ summary }) => ({
    package: objectOf(JSON.parse(summary ?? '{}')),
    score: { final: 1, detail: { quality: 1, popularity: 1, maintenance: 1 } },
    searchScore: 1,
  }))
  const dates = rows.map(({ modified_at }) => modified_at).toSorted()
  return { objects, total, time: dates.at(-1) ?? timestamp(0) }
}
