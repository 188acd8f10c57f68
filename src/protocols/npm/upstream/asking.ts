import {
  npmUpstreamDocumentMaxBytes,
  npmUpstreamPieceBytesMin,
  npmUpstreamRedirectsMax,
  npmUpstreamTarballMaxBytes,
} from '../../../kernel/limits/npm-upstream.ts'
import { gathered } from '../../../kernel/pieces.ts'
import { type OutboundAnswer, OutboundFailure, type OutboundHttp } from '../../../ports/outbound-http.ts'
import { UpstreamTrouble } from './trouble.ts'

/** What asks upstreams. */
export interface AskingDeps {
  readonly door: OutboundHttp
  readonly credentialsFor: (url: URL) => Promise<Readonly<Record<string, string>>>
  readonly answerMs: number
}

interface Asked {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly bodyBytesMax: number
  readonly signal: AbortSignal
}

/** What an upstream answers; null where it has nothing there. */
type Taken<T> = T | null

/** Asks, and has the answer taken. Throws an {@link UpstreamTrouble} whatever goes wrong there. */
const ask = async <T>(
  { door, credentialsFor, answerMs }: AskingDeps,
  { url, headers, bodyBytesMax, signal }: Asked,
  take: (answer: OutboundAnswer) => Promise<T>,
): Promise<Taken<T>> => {
  try {
    return await door.ask(
      {
        ...{ url: url.href, method: 'GET', headers, bodyBytesMax, answerMs, signal },
        credentials: await credentialsFor(url),
        redirectsMax: npmUpstreamRedirectsMax,
      },
      async (answer) => {
        const { status } = answer
        if (status === 404 || status === 410) return null
        refuseCoded(answer)
        if (status === 200 || status === 304) return await take(answer)
        throw refusal(status)
      },
    )
  } catch (error) {
    throw troubleOf(error)
  }
}

/** It was told that we take bytes as they are. */
const refuseCoded = ({ headers }: OutboundAnswer): void => {
  const coding = headers.get('content-encoding') ?? 'identity'
  if (coding !== 'identity' && coding !== '')
    throw new UpstreamTrouble('answer', 'it sends what it says in a coding that was not asked for')
}

/** What is the upstream's, in words that tell clients no addresses; everything else as it is. */
const troubleOf = (error: unknown): unknown => {
  if (!(error instanceof OutboundFailure)) return error
  const why = error.trouble === 'blocked' ? 'it leads to an address that may not be asked' : error.why
  return new UpstreamTrouble(error.trouble, why, { cause: error })
}

const refusal = (status: number): UpstreamTrouble =>
  status >= 500 || status === 429 || status === 408
    ? new UpstreamTrouble('http_5xx', `it answers ${status}`)
    : status >= 400
      ? new UpstreamTrouble('http_4xx', `it refuses with ${status}`)
      : new UpstreamTrouble('answer', `it answers ${status}, which says nothing here`)

/** The address of a package's document below an upstream. */
const documentAddress = (upstream: string, name: string): URL => new URL(`${upstream}/${name.replace('/', '%2f')}`)

/** A document that came, or that the one which is kept is the newest. */
export type DocumentAnswer<T> = { readonly etag: string | null; readonly document: T } | 'same'

/** Asks for the document of a package; null where there is none. `via` says who asks, so that none asks itself. */
export const askForDocument = async <T>(
  deps: AskingDeps,
  upstream: string,
  {
    name,
    etag,
    via,
    signal,
  }: { readonly name: string; readonly etag: string | null; readonly via: string; readonly signal: AbortSignal },
  take: (pieces: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<Taken<DocumentAnswer<T>>> =>
  ask<DocumentAnswer<T>>(
    deps,
    {
      url: documentAddress(upstream, name),
      headers: { accept: 'application/json', via, ...(etag === null ? {} : { 'if-none-match': etag }) },
      bodyBytesMax: npmUpstreamDocumentMaxBytes,
      signal,
    },
    async (answer) => {
      if (answer.status === 304) {
        if (etag === null) throw new UpstreamTrouble('answer', 'it answers 304 to a question without a condition')
        return 'same'
      }
      const given = answer.headers.get('etag') ?? null
      const document = await take(gathered(answer.pieces, npmUpstreamPieceBytesMin))
      return { etag: given !== null && given.length <= etagMaxCharacters ? given : null, document }
    },
  )

const etagMaxCharacters = 512

/** The address of a tarball: at the host of the upstream and nowhere else, by the scheme that is used there. */
export const tarballAddress = (upstream: string, said: string): URL => {
  const base = new URL(upstream)
  const url = URL.parse(said, `${upstream}/`)
  if (url === null || !(url.protocol === 'https:' || url.protocol === 'http:'))
    throw new UpstreamTrouble('malformed', 'its document says an address of the tarball that is none')
  // Registries behind a proxy may say http, and mean themselves.
  if (url.hostname === base.hostname && (url.port === base.port || url.port === '')) {
    url.protocol = base.protocol
    url.port = base.port
  }
  if (url.origin !== base.origin || url.username !== '' || url.password !== '')
    throw new UpstreamTrouble(
      'elsewhere',
      `its document says that the tarball is at ${url.origin}, and not at its own host`,
    )
  url.hash = ''
  return url
}

/** Asks for a tarball, and has its bytes taken as they come; null where there is none. */
export const askForTarball = async <T>(
  deps: AskingDeps,
  url: URL,
  { bytesMax, via, signal }: { readonly bytesMax: number; readonly via: string; readonly signal: AbortSignal },
  take: (pieces: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<Taken<T>> =>
  ask(
    deps,
    {
      url,
      headers: { accept: '*/*', via },
      bodyBytesMax: Math.min(bytesMax, npmUpstreamTarballMaxBytes),
      signal,
    },
    async (answer) => {
      if (answer.status !== 200)
        throw new UpstreamTrouble('answer', `it answers ${answer.status} where a tarball should be`)
      return await take(troublesOf(answer.pieces))
    },
  )

/** The pieces, whose trouble is the upstream's wherever they are read. */
async function* troublesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* gathered(pieces, npmUpstreamPieceBytesMin)
  } catch (error) {
    throw troubleOf(error)
  }
}
