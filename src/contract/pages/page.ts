import { createHash } from 'node:crypto'
import { html, type Markup } from './markup.ts'

const style = `
:root { color-scheme: light dark; --text: #1d2530; --soft: #5b6675; --ground: #fff; --box: #f2f4f7; --link: #0b57c2 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e5e9ef; --soft: #9aa6b5; --ground: #14181d; --box: #1f252c; --link: #7fb2ff }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1.1rem 3rem; background: var(--ground); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .6rem }
h2 { font-size: 1.1rem; margin: 2rem 0 .4rem }
p { margin: .5rem 0 }
a { color: var(--link) }
small, .soft { color: var(--soft) }
pre, code { font: .9rem/1.5 ui-monospace, monospace }
pre { background: var(--box); border-radius: .4rem; padding: .7rem .9rem; white-space: pre-wrap }
table { border-collapse: collapse; width: 100% }
td { padding: .3rem .8rem .3rem 0; vertical-align: top }
input, button { font: inherit; padding: .35rem .6rem; margin: .15rem 0 }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
td.time { white-space: nowrap; color: var(--soft) }
@media (max-width: 34rem) { td.time { display: none } }
`

/** Nothing in a page runs, is sent elsewhere or is shown in somebody's frame; all that it fetches is its icon. */
const policy = (form: boolean): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "img-src 'self'",
    "base-uri 'none'",
    `form-action ${form ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ].join('; ')

interface Content {
  readonly title: string
  /** The address of the service as the client knows it, with whatever path it has. */
  readonly baseUrl: string
  readonly body: Markup
  /** It has a form, which goes to where the page is. */
  readonly form?: boolean
}

/** Where something of the service is, for a link: below the same origin, under the path that a proxy gave it. */
export const pathAt = (baseUrl: string, path: string): string =>
  (URL.parse(baseUrl)?.pathname ?? '/').replace(/\/$/, '') + path

/** A page for a browser: its headers, and its text. */
export const page = ({ title, baseUrl, body, form = false }: Content) => ({
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy(form),
    'x-content-type-options': 'nosniff',
    // A form has to say where it comes from, or it is refused as a stranger's.
    'referrer-policy': form ? 'same-origin' : 'no-referrer',
    vary: 'Origin, Accept',
  },
  text: `${
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${pathAt(baseUrl, '/favicon.ico')}">
<style>${{ markup: style }}</style>
</head>
<body>
${body}
</body>
</html>`.markup
  }\n`,
})
