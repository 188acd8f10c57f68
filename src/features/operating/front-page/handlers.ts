import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { page } from '../../../contract/pages/page.ts'
import { wantsHtml } from '../../../contract/pages/wants-html.ts'
import { iconSeconds } from '../../../kernel/limits/http.ts'
import { asMarkup, asText, sections, sentence } from './front-page.ts'
import { icon } from './icon.ts'
import * as operations from './operations.ts'

export const frontPageHandlers = ({ consoleFiles }: { readonly consoleFiles: unknown }): BoundOperation[] => [
  handle(operations.getFrontPage, async ({ headers, request: { baseUrl } }) => {
    const told = sections(baseUrl, consoleFiles !== null)
    if (wantsHtml(headers.accept))
      return { status: 200, ...page({ title: 'svc', baseUrl, body: asMarkup(sentence(baseUrl), told, baseUrl) }) }
    const plain = { 'content-type': 'text/plain; charset=utf-8', vary: 'Origin, Accept' }
    return { status: 200, headers: plain, text: asText(sentence(baseUrl), told, baseUrl) }
  }),
  handle(operations.getIcon, async () => ({
    status: 200,
    headers: { 'content-type': 'image/x-icon', 'cache-control': `public, max-age=${iconSeconds}` },
    text: icon(),
  })),
]
