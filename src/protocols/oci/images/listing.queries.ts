import { countUpTo } from '../../../database/count-up-to.queries.ts'
import type { Queries } from '../../../database/database.ts'
import type { OciImagesTable } from '../../../database/tables/images.ts'
import { hasPart } from './names.queries.ts'

const behind = (q: Queries, repository: string, last: string) =>
  q.selectFrom('oci_images').where('repository', '=', repository).where('name', '>', last).orderBy('name')

/** Names that have a part, behind one of them, in the order of their bytes, up to another one where that is given. */
export const imageRows = (
  q: Queries,
  repository: string,
  { last, upTo, part }: { readonly last: string; readonly upTo: string | null; readonly part: string },
  limit: number,
): Promise<OciImagesTable[]> => {
  const rows = behind(q, repository, last).selectAll().limit(limit)
  const within = upTo === null ? rows : rows.where('name', '<=', upTo)
  return (part === '' ? within : within.where(hasPart(q, 'name', part))).execute()
}

export const countImageRows = (q: Queries, repositories: readonly string[], most: number) =>
  countUpTo(
    q,
    repositories,
    (eb) =>
      eb
        .selectFrom('oci_images')
        .whereRef('oci_images.repository', '=', 'repositories.id')
        // By the index that has them in order: where many are of one repository, looking anywhere finds some as soon.
        .orderBy('oci_images.name'),
    most,
  )

/** The name that is so many behind one. */
export const imageAhead = async (
  q: Queries,
  repository: string,
  last: string,
  entries: number,
): Promise<string | undefined> =>
  (
    await behind(q, repository, last)
      .select('name')
      .limit(1)
      .offset(entries - 1)
      .executeTakeFirst()
  )?.name
