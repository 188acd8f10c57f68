import type { Queries } from '../../database/database.ts'

interface ImageAt {
  readonly repository: string
  readonly name: string
}

/**
 * Names of images in some repositories behind one, by repository and then by name. What is left of its repository is
 * asked for by itself: no engine finds where to begin in an index by "behind this, or the same and behind that".
 */
export const imagePage = async (
  q: Queries,
  repositories: readonly string[],
  last: ImageAt,
  limit: number,
): Promise<ImageAt[]> => {
  const images = q.selectFrom('oci_images').select(['repository', 'name']).orderBy('repository').orderBy('name')
  const rest = repositories.includes(last.repository)
    ? await images.where('repository', '=', last.repository).where('name', '>', last.name).limit(limit).execute()
    : []
  const others = repositories.filter((repository) => repository > last.repository)
  if (rest.length === limit || others.length === 0) return rest
  return [
    ...rest,
    ...(await images
      .where('repository', 'in', others)
      .limit(limit - rest.length)
      .execute()),
  ]
}
