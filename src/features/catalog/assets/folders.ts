import type { Queries } from '../../../database/database.ts'
import { folderLook } from '../../../kernel/limits/catalog.ts'
import { behind, folderCursor, folderPosition } from './cursor.ts'
import { listedFiles, nextPaths } from './folders.queries.ts'

/** A path that shows a file, as a listing of its folder tells it. */
interface ListedFile {
  readonly path: string
  readonly revision: number
  readonly artifactId: string
  readonly size: string
  readonly sha256: string
  readonly actor: string
  readonly updatedAt: string
  /** What it was said to be; left out where nothing was said. */
  readonly mediaType?: string
}

export interface Folder {
  readonly items: ListedFile[]
  /** With their slash at the end. */
  readonly folders: string[]
  readonly next: string | null
}

/**
 * A page of what is right below a prefix: files, and folders in the place of all that is in them. Both together are as
 * many as `limit`, in the order of their bytes. A folder costs one look by the index, however much is in it.
 */
export const folderPage = async (
  q: Queries,
  repository: string,
  { prefix, after, limit }: { readonly prefix: string; readonly after: string | undefined; readonly limit: number },
): Promise<Folder> => {
  const position = after === undefined ? prefix : folderPosition(repository, prefix, after)
  const found = await entriesFrom(q, repository, prefix, position, limit + 1)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const paths = shown.filter((entry) => !entry.endsWith('/'))
  const rows = paths.length === 0 ? [] : await listedFiles(q, repository, paths)
  return {
    items: rows.map((row) => ({
      path: row.path,
      revision: row.revision,
      artifactId: row.artifact_id,
      size: String(row.size),
      sha256: row.sha256,
      actor: row.actor,
      updatedAt: row.created_at,
      ...(row.media_type === null ? {} : { mediaType: row.media_type }),
    })),
    folders: shown.filter((entry) => entry.endsWith('/')),
    next: found.length > limit && last !== undefined ? folderCursor(repository, prefix, last) : null,
  }
}

/** The next so many entries, from a position on: paths, and folders with a slash at the end, which no path has. */
const entriesFrom = async (
  q: Queries,
  repository: string,
  prefix: string,
  position: string,
  wanted: number,
): Promise<string[]> => {
  const entries: string[] = []
  let from = position
  while (entries.length < wanted) {
    const look = Math.min(folderLook, wanted - entries.length)
    const paths = await nextPaths(q, repository, from, look)
    if (paths.length === 0) return entries
    for (const path of paths) {
      if (!path.startsWith(prefix)) return entries
      const slash = path.indexOf('/', prefix.length)
      const entry = slash === -1 ? path : path.slice(0, slash + 1)
      entries.push(entry)
      from = behind(entry)
      // All else that this look found may be in it, too.
      if (slash !== -1) break
    }
  }
  return entries
}
