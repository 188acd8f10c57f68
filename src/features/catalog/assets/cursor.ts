import { hash } from 'node:crypto'
import { invalid } from '../../../kernel/failure.ts'
import { pathFault, prefixEnd } from '../../../kernel/names.ts'

/** Cursors of path pages: the last path behind a mark of the listing they belong to. */
const mark = (repository: string, prefix: string): string => hash('sha256', `${repository}\n${prefix}`).slice(0, 12)

export const pathCursor = (repository: string, prefix: string, lastPath: string): string =>
  Buffer.from(mark(repository, prefix) + lastPath).toString('base64url')

/** The path to go on after. 400 for a cursor of another repository or prefix, or none at all. */
export const pathOfCursor = (repository: string, prefix: string, cursor: string): string => {
  const path = Buffer.from(cursor, 'base64url').toString().slice(mark(repository, prefix).length)
  const ours = path.startsWith(prefix) && pathFault(path) === null && pathCursor(repository, prefix, path) === cursor
  if (!ours) throw invalid('/query/after', 'must be the next of a page of the same repository and prefix')
  return path
}

/** The first position behind a path, or behind all that is in a folder. No path has control characters. */
export const behind = (entry: string): string => (entry.endsWith('/') ? prefixEnd(entry) : null) ?? `${entry}\u0001`

/** The same for listings of folders, whose last entry may be a folder with its slash. */
export const folderCursor = (repository: string, prefix: string, last: string): string =>
  pathCursor(repository, `${prefix}\n/`, last)

/** The position to go on from. 400 for a cursor of another folder, or none at all. */
export const folderPosition = (repository: string, prefix: string, cursor: string): string => {
  const entry = Buffer.from(cursor, 'base64url').toString().slice(mark(repository, prefix).length)
  const ours =
    entry.startsWith(prefix) &&
    pathFault(entry.replace(/\/$/, '')) === null &&
    folderCursor(repository, prefix, entry) === cursor
  if (!ours) throw invalid('/query/after', 'must be the next of a page of the same repository, prefix and delimiter')
  return behind(entry)
}
