import type { Database } from '../../../database/database.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { pathFault } from '../../../kernel/names.ts'
import { type Folder, folderPage } from '../../catalog/assets/folders.ts'
import { heldActions } from '../../identity/access/access.ts'

/** Whether an address names a folder: all of the repository, or what ends with a slash. */
export const namesFolder = (assetPath: string): boolean => assetPath === '' || assetPath.endsWith('/')

interface Asked {
  readonly repository: string
  readonly folder: string
  readonly after: string | undefined
  readonly limit: number
}

/** A page of a folder. Whoever may read files needs asset.read besides (403); 404 for a folder in which nothing is. */
export const listFolder = async (
  { database }: { readonly database: Database },
  { repository, folder, after, limit }: Asked,
  caller: Caller,
): Promise<Folder> => {
  const fault = folder === '' ? null : pathFault(folder.slice(0, -1))
  if (fault !== null) throw invalid('/path/assetPath', fault)
  const held = await heldActions(database.reader, caller, repository)
  if (!held.has('asset.read')) throw new Failure('permission_missing', 'Listing a folder needs asset.read.')
  const page = await folderPage(database.reader, repository, { prefix: folder, after, limit })
  if (page.items.length + page.folders.length === 0 && folder !== '' && after === undefined) throw notFound('folder')
  return page
}

/** The page as a browser shows it. Its links are relative: they hold below whatever path the service stands. */
export const folderAsHtml = (folder: string, { items, folders, next }: Folder): string => {
  const name = escaped(`/${folder}`)
  const link = (to: string, shown: string): string =>
    `<a href="./${escaped(encodeURIComponent(to))}">${escaped(shown)}</a>`
  const entries = [
    ...folders.map((path) => {
      const last = path.slice(folder.length, -1)
      return `<li><a href="./${escaped(encodeURIComponent(last))}/">${escaped(last)}/</a></li>`
    }),
    ...items.map(({ path, size, updatedAt }) => {
      const last = path.slice(folder.length)
      return `<li>${link(last, last)} ${size} bytes, ${updatedAt}</li>`
    }),
  ]
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${name}</title></head><body><h1>${name}</h1>`,
    ...(folder === '' ? [] : ['<p><a href="../">one folder up</a></p>']),
    `<ul>${entries.join('\n')}</ul>`,
    ...(next === null ? [] : [`<p><a href="?after=${escaped(next)}">more</a></p>`]),
    '</body></html>\n',
  ].join('\n')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')

/** A client that names HTML wants it; the star of curl and others does not name it. */
export const wantsHtml = (accept: string | undefined): boolean => /\btext\/html\b/i.test(accept ?? '')

/** Headers of a page: nothing in it runs, is fetched, or is shown in somebody's frame. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
