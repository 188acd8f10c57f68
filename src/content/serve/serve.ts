import { create } from 'content-disposition'
import { contentGuards } from '../../kernel/content-guards.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import type { DownloadClass } from '../../kernel/download-class.ts'
import { Failure } from '../../kernel/failure.ts'
import { fileNameOf } from '../../kernel/file-name.ts'
import { httpDateText } from '../../kernel/http-dates.ts'
import { smallDownloadBytes, storeAddressSeconds } from '../../kernel/limits/downloads.ts'
import { anyBytes } from '../../kernel/media-types.ts'
import { OnePiece } from '../../kernel/one-piece.ts'
import { type ByteRange, resolveRange } from '../../kernel/range.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import type { Admission } from '../admission/admission.ts'
import type { Slot } from '../admission/download.ts'
import { type OpeningDeps, openStored, storedName } from '../claims/stored-names.ts'
import { isAsWanted, isKnown } from './conditions.ts'
import { isForProxy, type ProxyDeps, placeForProxy, type ReadByProxies, toldToProxy } from './left-to-proxy.ts'
import type { SmallFiles } from './small-files.ts'

export interface ServeDeps extends OpeningDeps, ProxyDeps {
  readonly store: BlobStore
  readonly smallFiles: SmallFiles
  readonly admission: Admission
  /** Clients are sent to the store for larger bodies, where it has addresses. */
  readonly redirects: boolean
}

/** The file to send. */
export interface Served {
  readonly digest: Sha256
  readonly bytes: number
  /** Offered as the name to save under. */
  readonly name: string
  /** Since when the address shows these bytes; left out where it may show older ones again. */
  readonly modifiedAt?: string
  /** Where it is known; otherwise a file is bytes. It is an attachment, and guarded, whatever it is. */
  readonly mediaType?: string
}

/** What the client asked, as far as it decides what is sent. */
export interface ServeRequest extends ReadByProxies {
  readonly head: boolean
  readonly downloadClass: DownloadClass
  /** Whose share of the downloads it takes, the client's name for the download, and its place in the queue. */
  readonly caller: string
  readonly id: string | undefined
  readonly ticket: string | undefined
  /** Its client has no ids, and fetches ranges of one file side by side: they take one turn. */
  readonly rangesTogether?: true
  /** Its client does not ask again: it joins the download that `id` names while that has its turn, and is held else. */
  readonly comesOnce?: boolean
  /** The client does not go to the object store. */
  readonly staysHere?: boolean
  /** Of the request: its turn and the open bytes end with it. */
  readonly scope: Scope
  /** Ends the connection, for a client that is too slow while others wait. */
  readonly hangUp: () => void
  /** Throws what a fresh request of the same credential would be told. */
  readonly admitAgain: () => Promise<unknown>
}

export interface ServedAnswer {
  readonly status: 200 | 206 | 304 | 307
  readonly headers: Readonly<Record<string, string>>
  /** Null when the answer has no body of ours. Otherwise opened already; closed with the scope of the request. */
  readonly bytes: AsyncIterableIterator<Uint8Array> | null
  /** How many bytes the proxy sends instead, if it does. */
  readonly leftToProxy?: number
}

/**
 * The one door out: every route that sends stored bytes ends here. Decides conditions (RFC 9110, section 13) and range
 * (section 14), makes the headers, waits for its turn, and opens the bytes, which are read only as fast as the client
 * takes them, or leaves them to the proxy. `headers` of the route are added. Throws 400 for conditions that are none,
 * 412 `precondition_failed`, 416 `range_not_satisfiable`, and what {@link Admission.enter} throws.
 */
export const serve = async (
  deps: ServeDeps,
  served: Served,
  request: ServeRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<ServedAnswer> => {
  const etag = `"sha256:${served.digest}"`
  const common = {
    ...contentGuards,
    etag,
    ...(served.modifiedAt === undefined ? {} : { 'last-modified': httpDateText(served.modifiedAt) }),
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'svc-download-class': request.downloadClass,
    ...headers,
  }
  if (!isAsWanted(request, etag, served.modifiedAt))
    throw new Failure('precondition_failed', `The file is another one by now: it has the ETag ${etag}.`, {
      headers: { etag },
    })
  if (isKnown(request, etag, served.modifiedAt)) return { status: 304, headers: common, bytes: null }
  // HEAD ignores Range; If-Range asks for the exact strong tag, anything else means the whole file.
  const wanted = request.head || (request.ifRange !== undefined && request.ifRange !== etag) ? undefined : request.range
  const range = resolveRange(wanted, served.bytes)
  if (range === 'unsatisfiable')
    throw new Failure(
      'range_not_satisfiable',
      `The file has ${served.bytes} bytes; the range ${wanted} lies outside.`,
      {
        headers: { 'content-range': `bytes */${served.bytes}`, etag, 'accept-ranges': 'bytes' },
      },
    )
  const interval = range === 'whole' ? { start: 0, end: served.bytes } : range
  const length = interval.end - interval.start
  // What leaves in one piece is sooner sent than asked for a second time.
  const elsewhere =
    deps.redirects && request.staysHere !== true && !request.head && length > smallDownloadBytes
      ? await addressOf(deps, served)
      : null
  if (elsewhere !== null) return { status: 307, headers: { ...common, location: elsewhere }, bytes: null }
  const sent: Record<string, string> = {
    ...common,
    'content-type': served.mediaType ?? anyBytes,
    'content-disposition': create(fileNameOf(served.name), { type: 'attachment' }),
    'content-length': String(length),
  }
  if (range !== 'whole') sent['content-range'] = `bytes ${range.start}-${range.end - 1}/${served.bytes}`
  const answer = { status: range === 'whole' ? 200 : 206, headers: sent, bytes: null } as const
  if (request.head) return answer
  const entered = slotFor(deps, served, request, interval, range !== 'whole')
  const slot = entered instanceof Promise ? await entered : entered
  const place = isForProxy(deps, request, range, length) ? await placeForProxy(deps, served) : null
  if (place !== null) return { ...answer, headers: toldToProxy(sent, place), leftToProxy: length }
  const pieces = await open(deps, served, interval)
  request.scope.own(async () => void (await pieces.return?.()))
  return { ...answer, bytes: new InSlot(pieces, slot) }
}

/** Where the store itself sends the body; null where it has no addresses. */
const addressOf = async (deps: ServeDeps, { digest, name, mediaType = anyBytes }: Served): Promise<string | null> =>
  deps.store.address(await storedName(deps, digest), { name, mediaType, seconds: storeAddressSeconds })

/**
 * Nothing is opened before its turn: who waits costs no file and no memory. Whoever may not have the file any more when
 * their turn comes does not get it (I8). What is not waited for is answered at once.
 */
const slotFor = (
  deps: ServeDeps,
  served: Served,
  { downloadClass, caller, id, ticket, rangesTogether, comesOnce, scope, hangUp, admitAgain }: ServeRequest,
  range: ByteRange,
  isPart: boolean,
): Promise<Slot> | Slot => {
  const bytes = range.end - range.start
  const last = range.end === served.bytes
  const entered = deps.admission.enter({
    caller,
    downloadClass,
    bytes,
    last,
    content: served.digest,
    id,
    ticket,
    sideBySide: isPart && rangesTogether === true,
    comesOnce: comesOnce === true,
    scope,
    hangUp,
  })
  if (!(entered instanceof Promise)) return entered
  return entered.then(async (slot) => {
    await admitAgain()
    return slot
  })
}

/** The bytes of a download: what is sent is counted. */
class InSlot implements AsyncIterableIterator<Uint8Array> {
  readonly #bytes: AsyncIterableIterator<Uint8Array>
  readonly #grant: Slot

  constructor(bytes: AsyncIterableIterator<Uint8Array>, slot: Slot) {
    this.#bytes = bytes
    this.#grant = slot
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const piece = await this.#bytes.next()
    if (piece.done !== true) this.#grant.sent(piece.value.byteLength)
    return piece
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.#bytes.return?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** The bytes of a range, from memory where they are; opened before this resolves. */
const open = async (deps: ServeDeps, served: Served, range: ByteRange): Promise<AsyncIterableIterator<Uint8Array>> => {
  const { digest, bytes } = served
  if (bytes === 0) return openStored(deps, served, range)
  const known = deps.smallFiles.find(digest)
  if (known === undefined && !deps.smallFiles.isWanted(served)) return openStored(deps, served, range)
  const whole = known ?? (await deps.smallFiles.read(served, await openStored(deps, served, { start: 0, end: bytes })))
  return new OnePiece(whole.subarray(range.start, range.end))
}
