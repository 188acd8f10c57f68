import type { Sha256 } from '../../kernel/digest.ts'
import { smallDownloadBytes } from '../../kernel/limits/downloads.ts'
import type { ByteRange } from '../../kernel/range.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { fileOfStored, type OpeningDeps } from '../claims/stored-names.ts'
import type { Conditions } from './conditions.ts'

/*
 * A proxy that can read the files of the store sends large bodies itself: it is told which file by `X-Accel-Redirect`,
 * and gets no body. It answers as a server of files does, from the request of its client. So it is left to it only
 * where it cannot come to another answer than we did.
 */

export interface ProxyDeps extends Pick<OpeningDeps, 'database'> {
  readonly store: Pick<BlobStore, 'file'>
  /** Where the proxy has the folder of the store, between slashes; null where it has not. */
  readonly proxyFiles: string | null
}

/** What a request says that a proxy would read as well. */
export interface ReadByProxies extends Conditions {
  readonly range: string | undefined
  /** The proxy that brought it sends files itself. */
  readonly proxySends: boolean
}

/** A range as every server reads it, of numbers that none of them finds too long. */
const plainRange = /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/i

/**
 * Conditions are for us to decide: they are about what the catalog knows, and a proxy would compare them with what a
 * disk knows of a file. A range that we do not follow another server may refuse, or answer with several.
 */
const readsAlike = (request: ReadByProxies, range: ByteRange | 'whole'): boolean =>
  request.ifMatch === undefined &&
  request.ifNoneMatch === undefined &&
  request.ifModifiedSince === undefined &&
  request.ifUnmodifiedSince === undefined &&
  request.ifRange === undefined &&
  (range === 'whole' ? request.range === undefined : plainRange.test(request.range ?? ''))

/** Whether the proxy that brought a request sends this body: whole, or a range of it. */
export const isForProxy = (
  { proxyFiles }: Pick<ProxyDeps, 'proxyFiles'>,
  request: ReadByProxies,
  range: ByteRange | 'whole',
  bytes: number,
): boolean => proxyFiles !== null && request.proxySends && bytes > smallDownloadBytes && readsAlike(request, range)

/**
 * Where the proxy finds the file, made of nothing that a client sent. It was there a moment ago, and no name is ever
 * given to other bytes (I2): the proxy sends these or none. Null where they are in no file.
 */
export const placeForProxy = async (
  deps: ProxyDeps,
  served: { readonly digest: Sha256; readonly bytes: number },
): Promise<string | null> => {
  const file = await fileOfStored(deps, served)
  return file === null || deps.proxyFiles === null ? null : deps.proxyFiles + file
}

/** An answer without a body, so that the connection to the proxy stays. Of ranges the proxy speaks for itself. */
export const toldToProxy = (
  { 'accept-ranges': _, ...headers }: Readonly<Record<string, string>>,
  place: string,
): Readonly<Record<string, string>> => ({ ...headers, 'content-length': '0', 'x-accel-redirect': place })
