import type { Queries } from '../../database/database.ts'

/** Names of images in some repositories behind one, by repository and then by name. */
export const imagePage = (
  q: Queries,
  repositories: readonly string[],
  last: { readonly repository: string; readonly name: string },
  limit: number,
) =>
  q
    .selectFrom('oci_images')
    .select(['repository', 'name'])
    .where('repository', 'in', repositories)
    .where((eb) =>
      eb.or([
        eb('repository', '>', last.repository),
        eb.and([eb('repository', '=', last.repository), eb('name', '>', last.name)]),
      ]),
    )
    .orderBy('repository')
    .orderBy('name')
    .limit(limit)
    .execute()
