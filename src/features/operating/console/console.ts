import { createHash } from 'node:crypto'
import { pathAt } from '../../../contract/pages/page.ts'
import { weightOf } from '../../../contract/pages/wants-html.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { consoleFileSeconds } from '../../../kernel/limits/http.ts'

/** A file of the console as it was built: its bytes under each coding in which they lie there. */
export interface ConsoleFile {
  readonly mediaType: string
  /** `br` and `gzip` where they make it smaller, `identity` always. */
  readonly coded: Readonly<Record<string, Uint8Array>>
}

/** What was built, by path; read when it is asked for and then kept. Null where nothing was built. */
export interface ConsoleFiles {
  read(path: string): Promise<ConsoleFile | null>
}

/**
 * Scripts and styles come from here alone, nothing in a text becomes a script, no form is sent and nobody frames it.
 * `wasm-unsafe-eval` compiles the hash of uploads; the one way to name a script is that of its worker.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc-worker',
].join('; ')

/** Files of this folder bear a digest of their content in their names. */
const hashed = /^assets\//

const indexPage = 'index.html'
const baseMark = '<base href="./">'

interface Asked {
  readonly path: string
  readonly baseUrl: string
  readonly acceptEncoding: string | undefined
  readonly ifNoneMatch: string | undefined
}

interface Answered {
  readonly status: 200 | 304
  readonly headers: Readonly<Record<string, string>>
  readonly text: Uint8Array | string
}

/**
 * A file of the console. Every path that is no file's is a page's: its address is read by the script in it, so that one
 * may be opened, bookmarked and sent. Unknown files below `assets/` are 404, or a page would be taken for a script.
 */
export const consoleFile = async (files: ConsoleFiles | null, asked: Asked): Promise<Answered> => {
  if (files === null) throw notBuilt()
  if (hashed.test(asked.path)) {
    const file = await files.read(asked.path)
    if (file === null) throw notFound('file of the console')
    const [coding, bytes] = chosen(file, asked.acceptEncoding)
    return {
      status: 200,
      headers: { ...headersOf(file, coding), 'cache-control': `public, max-age=${consoleFileSeconds}, immutable` },
      text: bytes,
    }
  }
  return page(files, asked)
}

/** The one page, with the address below which everything of it is. */
const page = async (files: ConsoleFiles, asked: Asked): Promise<Answered> => {
  const file = await files.read(indexPage)
  if (file === null) throw notBuilt()
  const text = Buffer.from(file.coded['identity'] ?? '').toString()
  const based = text.replace(baseMark, `<base href="${pathAt(asked.baseUrl, '/console/')}">`)
  const tag = `"${createHash('sha256').update(based).digest('base64url')}"`
  const headers = { ...headersOf(file, 'identity'), 'cache-control': 'no-cache', etag: tag }
  return asked.ifNoneMatch?.includes(tag) === true
    ? { status: 304, headers, text: '' }
    : { status: 200, headers, text: based }
}

const headersOf = (file: ConsoleFile, coding: string): Record<string, string> => ({
  'content-type': file.mediaType,
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'Origin, Accept-Encoding',
  ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
})

/** The smallest of what the client takes. */
const chosen = (file: ConsoleFile, accept = ''): [coding: string, bytes: Uint8Array] => {
  const taken = Object.entries(file.coded).filter(
    ([coding]) => coding === 'identity' || (weightOf(accept, new RegExp(`^${coding}$`)) ?? 0) > 0,
  )
  const [best] = taken.sort(([, one], [, other]) => one.byteLength - other.byteLength)
  return best ?? ['identity', new Uint8Array()]
}

const notBuilt = (): Failure =>
  new Failure(
    'not_implemented',
    'The console was not built here. In a checkout `npm ci` builds it, and `npm run build:console` does again; the JSON interface is there without it.',
  )
