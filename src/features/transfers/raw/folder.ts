import { html } from '../../../contract/pages/markup.ts'
import { page, pathAt } from '../../../contract/pages/page.ts'
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
  const found = await folderPage(database.reader, repository, { prefix: folder, after, limit })
  if (found.items.length + found.folders.length === 0 && folder !== '' && after === undefined) throw notFound('folder')
  return found
}

interface Shown {
  readonly repository: string
  readonly folder: string
  readonly baseUrl: string
}

/**
 * The page as a browser shows it. Its links are whole paths: they lead to the same place however the slashes of the
 * folder's own address are written.
 */
export const folderAsPage = ({ repository, folder, baseUrl }: Shown, { items, folders, next }: Folder) => {
  const title = `/${folder}`
  const last = (path: string): string => path.slice(folder.length)
  const address = (path: string): string =>
    pathAt(baseUrl, `/api/v1/repositories/${repository}/raw/${path.split('/').map(encodeURIComponent).join('/')}`)
  const above = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1)
  const rows = [
    ...folders.map((path) => html`<tr><td colspan="3"><a href="${address(path)}">${last(path)}</a></td></tr>`),
    ...items.map(
      ({ path, size, updatedAt }) => html`<tr>
<td><a href="${address(path)}">${last(path)}</a></td>
<td class="number">${size} bytes</td>
<td class="time">${updatedAt}</td>
</tr>`,
    ),
  ]
  const body = html`<h1>${title}</h1>
${folder === '' ? '' : html`<p><a href="${address(above)}">one folder up</a></p>`}
<table>
${rows}
</table>
${next === null ? '' : html`<p><a href="?after=${next}">more</a></p>`}`
  return page({ title, baseUrl, body })
}
