import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { ImageName } from '../tags.ts'
import { type Algorithm, calledAfter } from '../vocabulary.ts'

/** Those of a manifest. */
export interface Known {
  readonly id: string
  readonly digest: string
  readonly digest512: string | null
}

/** Manifests of an image that some of it list. */
export const listedBy = async (
  q: Queries,
  { repository, name }: ImageName,
  manifestIds: readonly string[],
  limit: number,
): Promise<Known[]> => {
  const listed = q
    .selectFrom('oci_references')
    .select('digest')
    .where('manifest_id', 'in', manifestIds)
    .where('role', '=', 'manifest')
  const by = (digest: 'digest' | 'digest512') =>
    q
      .selectFrom('oci_manifests')
      .select(['id', 'digest', 'digest512'])
      .where('repository', '=', repository)
      .where('name', '=', name)
      .where(digest, 'in', listed)
      .limit(limit)
      .execute()
  return [...(await by('digest')), ...(await by('digest512'))]
}

/** A digest that one of some manifests lists and that is not there any more. */
export const listedInVain = async (q: Queries, manifestIds: readonly string[]): Promise<string | undefined> => {
  const one = sql.lit(1).as('one')
  const row = await q
    .selectFrom('oci_references as r')
    .select('r.digest')
    .where('r.manifest_id', 'in', manifestIds)
    .where('r.role', '=', 'manifest')
    .where((eb) => {
      const there = (digest: 'm.digest' | 'm.digest512') =>
        eb.exists(
          eb
            .selectFrom('oci_manifests as m')
            .select(one)
            .whereRef('m.repository', '=', 'r.repository')
            .whereRef('m.name', '=', 'r.name')
            .whereRef(digest, '=', 'r.digest'),
        )
      return eb.not(eb.or([there('m.digest'), there('m.digest512')]))
    })
    .limit(1)
    .executeTakeFirst()
  return row?.digest
}

const referring = prepareQuery((q, p: Parameters<ImageName & { digest: string; limit: number }>) =>
  q
    .selectFrom('oci_manifests')
    .select(['id', 'digest', 'digest512'])
    .where('repository', '=', p('repository'))
    .where('name', '=', p('name'))
    .where('subject', '=', p('digest'))
    .orderBy('digest')
    .limit(p('limit')),
)

/** Manifests of an image that refer to a digest. */
export const referringTo = (
  q: Queries,
  { repository, name }: ImageName,
  digest: string,
  limit: number,
): Promise<Known[]> => referring(q, { repository, name, digest, limit })

/** A tag that says by its name what its manifest is about. */
export interface SpeakingTag extends Known {
  readonly tag: string
  readonly algorithm: Algorithm
}

const between = prepareQuery((q, p: Parameters<ImageName & { first: string; end: string; limit: number }>) =>
  q
    .selectFrom('oci_tags as t')
    .innerJoin('oci_manifests as m', 'm.id', 't.manifest_id')
    .select(['t.tag', 't.algorithm', 'm.id', 'm.digest', 'm.digest512'])
    .where('t.repository', '=', p('repository'))
    .where('t.name', '=', p('name'))
    .where('t.tag', '>=', p('first'))
    .where('t.tag', '<', p('end'))
    .orderBy('t.tag')
    .limit(p('limit')),
)

/** Tags of an image that are named after a digest: `sha256-<digits>.sig` and their like, or without anything behind. */
export const namedAfter = async (
  q: Queries,
  { repository, name }: ImageName,
  digest: string,
  limit: number,
): Promise<SpeakingTag[]> => {
  const called = calledAfter(digest)
  // The character behind the full stop.
  const found = await between(q, { repository, name, first: called, end: `${called}/`, limit })
  return found.filter(({ tag }) => tag === called || tag.startsWith(`${called}.`))
}

/** Whether anything of an image refers to something, and whether any of its tags may be named after a digest. */
export const linksOf = async (q: Queries, { repository, name }: ImageName) => {
  const { subjects, tags } = await q
    .selectNoFrom((eb) => [
      eb
        .selectFrom('oci_manifests')
        .select('digest')
        .where('repository', '=', repository)
        .where('name', '=', name)
        .where('subject', 'is not', null)
        .orderBy('subject')
        .limit(1)
        .as('subjects'),
      eb
        .selectFrom('oci_tags')
        .select('tag')
        .where('repository', '=', repository)
        .where('name', '=', name)
        .where('tag', '>', 'sha256-')
        // The character behind the hyphen.
        .where('tag', '<', 'sha512.')
        .orderBy('tag')
        .limit(1)
        .as('tags'),
    ])
    .executeTakeFirstOrThrow()
  return { bySubject: subjects !== null, byTag: tags !== null }
}
