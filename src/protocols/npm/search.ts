import { setImmediate as nextRound } from 'node:timers/promises'
import type { Queries } from '../../database/database.ts'
import { timestamp } from '../../kernel/clock.ts'
import { foldCase } from '../../kernel/fold-case.ts'
import {
  npmSearchedAtOnce,
  npmSearchFromMax,
  npmSearchMaxCharacters,
  npmSearchPageDefault,
  npmSearchPageMax,
  npmSearchWordsMax,
} from '../../kernel/limits/npm.ts'
import { type Fields, objectOf } from './fields.ts'
import { plainText } from './publishing/claimed.ts'
import { countPackages, packagesBehind, packagesFrom, packagesNamed } from './search.queries.ts'

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

/**
 * Packages in whose names, descriptions or keywords all words of a text stand, by name; `time` is of the newest. All
 * packages are looked at, some at a time: whatever stands in them, others have their turn in between.
 */
export const searchPackages = async (
  q: Queries,
  repository: string,
  { text = '', size = npmSearchPageDefault, from = 0 }: Searched,
): Promise<{ readonly objects: FoundPackage[]; readonly total: number; readonly time: string }> => {
  const all = foldCase(plainText(text.slice(0, npmSearchMaxCharacters)))
    .split(/\s+/)
    .map((word) => word.replace(qualifier, ''))
    .filter((word) => word !== '')
  const words = [...new Set(all)].slice(0, npmSearchWordsMax)
  const page = { from: Math.min(from, npmSearchFromMax), limit: Math.min(size, npmSearchPageMax) }
  const { total, rows } =
    words.length === 0
      ? {
          total: await countPackages(q, repository),
          rows: await packagesFrom(q, repository, page.from, page.limit),
        }
      : await withWords(q, repository, words, page)
  const objects = rows.map(({ summary }) => ({
    package: objectOf(JSON.parse(summary ?? '{}')),
    score: { final: 1, detail: { quality: 1, popularity: 1, maintenance: 1 } },
    searchScore: 1,
  }))
  const dates = rows.map(({ modified_at }) => modified_at).toSorted()
  return { objects, total, time: dates.at(-1) ?? timestamp(0) }
}

const withWords = async (
  q: Queries,
  repository: string,
  words: readonly string[],
  { from, limit }: { readonly from: number; readonly limit: number },
) => {
  const names: string[] = []
  let total = 0
  for (let last = ''; ; ) {
    const some = await packagesBehind(q, repository, last, npmSearchedAtOnce)
    for (const { name, found_by } of some) {
      if (!words.every((word) => found_by.includes(word))) continue
      if (total >= from && names.length < limit) names.push(name)
      total += 1
    }
    const behind = some.at(-1)
    if (behind === undefined || some.length < npmSearchedAtOnce) break
    last = behind.name
    await nextRound()
  }
  return { total, rows: names.length === 0 ? [] : await packagesNamed(q, repository, names) }
}
