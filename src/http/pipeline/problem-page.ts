import { html } from '../../contract/pages/markup.ts'
import { page, pathAt } from '../../contract/pages/page.ts'
import type { Failure } from '../../kernel/failure.ts'

/** What to do about it, where a browser cannot do it by itself. */
const wayOn = ({ status, retryAfterSeconds }: Failure): string | null => {
  if (retryAfterSeconds !== undefined) return `Try again in ${retryAfterSeconds} seconds.`
  if (status === 401)
    return 'A browser has no credential to show: sign in with the command line, and fetch it from there.'
  if (status >= 500) return 'If it stays so, tell whoever runs the service, with the request id.'
  return null
}

/** A failure as a browser shows it: its status, a sentence, what to do, and the way out. */
export const problemPage = (
  failure: Failure,
  title: string,
  { requestId, baseUrl }: { readonly requestId: string; readonly baseUrl: string },
) => {
  const { status, message, details } = failure
  const advice = wayOn(failure)
  const body = html`<h1>${status} ${title}</h1>
<p>${message}</p>
${details.length === 0 ? '' : html`<ul>${details.map(({ pointer, message: why }) => html`<li><code>${pointer}</code> ${why}</li>`)}</ul>`}
${advice === null ? '' : html`<p>${advice}</p>`}
<p><a href="${pathAt(baseUrl, '/')}">What this is, and how to sign in</a></p>
<p class="soft">Request id: <code>${requestId}</code></p>`
  return page({ title: `${status} ${title}`, baseUrl, body })
}
