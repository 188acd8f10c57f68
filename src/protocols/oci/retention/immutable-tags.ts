import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { OciImmutableTagsTable } from '../../../database/tables/images.ts'
import { appendStorageEvent } from '../../../journal/storage-events/storage-events.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { matchesPattern } from '../../../kernel/wildcard-pattern.ts'
import { tagImmutable } from '../refusals.ts'
import { findImmutableTags, writeImmutableTags } from './immutable-tags.queries.ts'

/** Which tags of a repository stay where they are, and who said so. */
export interface ImmutableTags {
  readonly revision: number
  readonly patterns: string[]
  /** Null where nobody ever did. */
  readonly savedAt: string | null
  readonly actor: string | null
}

const patternsIn = (json: string): string[] => {
  const parsed: unknown = JSON.parse(json)
  if (!Array.isArray(parsed)) throw new Error('a stored list of patterns has another form')
  return parsed.map(String)
}

const view = (row: OciImmutableTagsTable | undefined): ImmutableTags =>
  row === undefined
    ? { revision: 0, patterns: [], savedAt: null, actor: null }
    : { revision: row.revision, patterns: patternsIn(row.patterns), savedAt: row.saved_at, actor: row.actor }

/** The list, which every repository has: at first it is empty. */
export const immutableTagsOf = async (q: Queries, repository: string): Promise<ImmutableTags> =>
  view(await findImmutableTags(q, repository))

/**
 * Those of some tags that are there which stay where they are, each with the pattern that says so. Asked under the lock
 * of the repository, so that nothing moves beside a list that is being saved.
 */
export const immutableAmong = async (
  tx: Transaction,
  repository: string,
  tags: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (tags.length === 0) return new Map()
  const { patterns } = await immutableTagsOf(tx, repository)
  return new Map(
    tags.flatMap((tag) => {
      const pattern = patterns.find((each) => matchesPattern(each, tag))
      return pattern === undefined ? [] : [[tag, pattern] as const]
    }),
  )
}

/** 409 `tag_immutable` for the first of {@link immutableAmong}. */
export const refuseImmutable = async (tx: Transaction, repository: string, tags: readonly string[]): Promise<void> => {
  for (const [tag, pattern] of await immutableAmong(tx, repository, tags)) throw tagImmutable(tag, pattern)
}

/**
 * Replaces the list, of which the order is kept. It holds for tags that are there as for those to come. 409
 * `revision_mismatch`. Operators are told.
 */
export const saveImmutableTags = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  repository: string,
  { expectedRevision, patterns }: { readonly expectedRevision: number; readonly patterns: readonly string[] },
  actor: string,
): Promise<ImmutableTags> =>
  database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    const { revision } = await immutableTagsOf(tx, repository)
    if (revision !== expectedRevision)
      throw new Failure('revision_mismatch', `The list is at revision ${revision}; read it again, then decide.`)
    const now = timestamp(clock.now())
    const row = { repository, revision: revision + 1, patterns: JSON.stringify(patterns), saved_at: now, actor }
    await writeImmutableTags(tx, row)
    await appendStorageEvent(tx, {
      repository,
      level: 'info',
      code: 'immutable-tags.saved',
      details: { revision: row.revision, patterns: patterns.join(' '), actor },
      occurredAt: now,
    })
    return view(row)
  })
