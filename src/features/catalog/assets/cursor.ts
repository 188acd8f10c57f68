import { hash } from 'node:crypto'
import { invalid } from '../../../kernel/failure.ts'
import { pathFault } from '../../../kernel/names.ts'

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
