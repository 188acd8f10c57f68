import type { Queries } from '../../database/database.ts'
import { catalogRepositoriesPage, tagsPageDefault, tagsPageMax } from '../../kernel/limits/oci.ts'
import { imagePage } from './images.queries.ts'

/** Repositories behind an id that the caller may list, in order. */
export type ListedRepositories = (after: string, limit: number) => Promise<readonly string[]>

export interface ImagePage {
  readonly names: readonly string[]
  readonly next: string | null
}

/** Whole names of images behind `last` in all repositories that may be listed, by repository and then by name. */
export const listImages = async (
  q: Queries,
  listed: ListedRepositories,
  { n = tagsPageDefault, last = '' }: { readonly n?: number | undefined; readonly last?: string | undefined },
): Promise<ImagePage> => {
  const limit = Math.min(n, tagsPageMax)
  if (limit === 0) return { names: [], next: null }
  const [repository = '', ...rest] = last.split('/')
  const from = { repository, name: rest.join('/') }
  const names: string[] = []
  const add = async (repositories: readonly string[]): Promise<void> => {
    if (repositories.length === 0) return
    for (const row of await imagePage(q, repositories, from, limit + 1 - names.length))
      names.push(`${row.repository}/${row.name}`)
  }
  // Lists of repositories go on behind an id: that of the last name is asked for by what stands just before it.
  for (let after = before(repository); names.length <= limit; ) {
    const page = await listed(after, catalogRepositoriesPage)
    await add(page)
    const end = page.at(-1)
    if (end === undefined || page.length < catalogRepositoriesPage) break
    after = end
  }
  const shown = names.slice(0, limit)
  return { names: shown, next: names.length > limit ? (shown.at(-1) ?? null) : null }
}

/** A text that only texts below an id are not behind, as far as ids go. */
const before = (id: string): string => {
  const last = id.charCodeAt(id.length - 1)
  return id === '' ? '' : `${id.slice(0, -1)}${String.fromCharCode(last - 1)}~`
}
