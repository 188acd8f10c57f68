import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { withOldest } from '../../content/reclaim/grace.queries.ts'
import type { Queries, Transaction } from '../../database/database.ts'
import type { Tables } from '../../database/tables/index.ts'
import { manifestsAtOnce } from '../../kernel/limits/oci.ts'
import { inPieces } from '../../kernel/pieces.ts'

type Here = { readonly repository: string; readonly name: string }

type OfManifest = ExpressionBuilder<Tables & { m: Tables['oci_manifests'] }, 'm'>

/** Whether an index lists the manifest, or what it refers to is there. */
const isKeptByManifests = (eb: OfManifest) => {
  const one = sql.lit(1).as('one')
  const listed = (digest: 'm.digest' | 'm.digest512') =>
    eb.exists(
      eb
        .selectFrom('oci_references as r')
        .select(one)
        .whereRef('r.repository', '=', 'm.repository')
        .whereRef('r.name', '=', 'm.name')
        .whereRef('r.digest', '=', digest)
        .where('r.role', '=', sql.lit('manifest' as const)),
    )
  const subjectBy = (digest: 's.digest' | 's.digest512') =>
    eb.exists(
      eb
        .selectFrom('oci_manifests as s')
        .select(one)
        .whereRef('s.repository', '=', 'm.repository')
        .whereRef('s.name', '=', 'm.name')
        .whereRef(digest, '=', 'm.subject'),
    )
  return eb.or([listed('m.digest'), listed('m.digest512'), subjectBy('s.digest'), subjectBy('s.digest512')])
}

/** Whether a tag is at the manifest, or it has a stage. */
const isNamed = (eb: OfManifest) => {
  const one = sql.lit(1).as('one')
  return eb.or([
    eb.exists(eb.selectFrom('oci_tags as t').select(one).whereRef('t.manifest_id', '=', 'm.id')),
    eb.exists(eb.selectFrom('oci_stages as g').select(one).whereRef('g.manifest_id', '=', 'm.id')),
  ])
}

/** When the newest tag came to the manifest, of those that are not called after what they belong to. */
const newestTag = (eb: OfManifest) =>
  eb
    .selectFrom('oci_tags as n')
    .select('n.moved_at')
    .whereRef('n.manifest_id', '=', 'm.id')
    .where(sql<boolean>`not ${isCalledAfter(sql.ref('n.tag'))}`)
    .orderBy('n.moved_at', 'desc')
    .limit(1)

/** Of a tag that says by its name which digest it belongs to, as signatures do: `sha256-<64 digits>.sig`. */
const isCalledAfter = (tag: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`(substr(${tag}, 1, 7) in ('sha256-', 'sha512-') and length(${tag}) >= 71 and substr(${tag}, 72, 1) in ('', '.'))`

const isKept = (eb: OfManifest) => eb.or([isNamed(eb), isKeptByManifests(eb)])

/** Since when a manifest is counted among the tagged ones; null of what belongs to others. */
const countedFrom = (eb: OfManifest) => eb.case().when(isKeptByManifests(eb)).then(null).else(newestTag(eb)).end()

/** Whether other manifests keep one. */
export const keptByManifests = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('oci_manifests as m')
    .select('m.id')
    .where('m.id', '=', id)
    .where((eb) => isKeptByManifests(eb))
    .executeTakeFirst()) !== undefined

/** When somebody counted on the manifest last, of which `since` is one time. */
const countedOn = (eb: OfManifest, since: string) =>
  eb.case().when('m.counted_on_at', '<', since).then(since).else(eb.ref('m.counted_on_at')).end()

/**
 * What keeps manifests has changed: until `since` something kept them, or somebody counted on them. Those that nothing
 * keeps have been unused since then, or since somebody counted on them later, unless they were before; others are in
 * use. Those that have a tag and that no other manifest keeps are counted from when the newest came to them.
 */
export const settleKept = async (tx: Transaction, ids: readonly string[], since: string): Promise<void> => {
  for (const some of inPieces(ids, manifestsAtOnce))
    await tx
      .updateTable('oci_manifests as m')
      .set((eb) => ({
        unused_since: eb
          .case()
          .when(isKept(eb))
          .then(null)
          .else(eb.fn.coalesce('m.unused_since', countedOn(eb, since)))
          .end(),
        counted_on_at: countedOn(eb, since),
        tagged_at: countedFrom(eb),
      }))
      .where('m.id', 'in', some)
      // Those alone of which something else is said.
      .where((eb) =>
        eb.or([
          eb(eb('m.unused_since', 'is', null), '!=', isKept(eb)),
          eb('m.tagged_at', 'is distinct from', countedFrom(eb)),
          eb('m.counted_on_at', '<', since),
        ]),
      )
      .execute()
}

/** Manifests that some of an image keep while they are there: those that they list, and those that refer to them. */
export const keptBy = async (
  tx: Transaction,
  { repository, name }: Here,
  manifests: readonly { readonly id: string; readonly digest: string; readonly digest512: string | null }[],
): Promise<string[]> => {
  const found = new Set<string>()
  for (const some of inPieces(manifests, manifestsAtOnce)) {
    const here = tx
      .selectFrom('oci_manifests as m')
      .select('m.id')
      .where('m.repository', '=', repository)
      .where('m.name', '=', name)
    const ids = some.map(({ id }) => id)
    const digests = some.flatMap(({ digest, digest512 }) => (digest512 === null ? [digest] : [digest, digest512]))
    const listed = tx
      .selectFrom('oci_references')
      .select('digest')
      .where('manifest_id', 'in', ids)
      .where('role', '=', 'manifest')
    for (const query of [
      here.where('m.subject', 'in', digests),
      here.where('m.digest', 'in', listed),
      here.where('m.digest512', 'in', listed),
    ])
      for (const { id } of await query.execute()) found.add(id)
  }
  return [...found].sort()
}

/** Manifests of a repository that nothing has kept since a moment, or for longer. */
export const unkeptSince = (q: Queries, repository: string, until: string, limit: number) =>
  q
    .selectFrom('oci_manifests')
    .select(['id', 'repository', 'name', 'digest', 'digest512', 'blob_id', 'unused_since'])
    .where('repository', '=', repository)
    .where('unused_since', '<=', until)
    .orderBy('unused_since')
    .limit(limit)
    .execute()

/** One of them, if nothing keeps it still. */
export const unkept = (tx: Transaction, id: string) =>
  tx
    .selectFrom('oci_manifests')
    .select(['id', 'repository', 'name', 'digest', 'digest512', 'blob_id', 'unused_since'])
    .where('id', '=', id)
    .where('unused_since', 'is not', null)
    .executeTakeFirst()

/** The grace period that a repository was given of its own; null where it has that of the server. */
export const graceHoursHere = async (q: Queries, repository: string): Promise<number | null> =>
  (await q.selectFrom('repositories').select('grace_hours').where('id', '=', repository).executeTakeFirst())
    ?.grace_hours ?? null

/** The oldest: since when the first manifest that nothing keeps is kept by nothing. */
export const oldestUnkept = (q: Queries, after: string, limit: number) =>
  withOldest(q, after, limit, (eb) =>
    eb
      .selectFrom('oci_manifests')
      .select('unused_since')
      .whereRef('oci_manifests.repository', '=', 'repositories.id')
      .where('unused_since', 'is not', null)
      .orderBy('unused_since')
      .limit(1)
      .$asScalar()
      .as('oldest'),
  )
