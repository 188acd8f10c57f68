import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IncomingBody } from '../../contract/handler.ts'
import type { BodyKind, SentBytes } from '../../contract/operation.ts'
import { Failure, invalid } from '../../kernel/failure.ts'
import type { Scope } from '../../kernel/scope.ts'
import type { HttpMetrics } from '../metrics/metrics.ts'
import { bodyDigests } from './body-digests.ts'
import type { HeldBodies } from './held-bodies.ts'
import type { ReceivingSeat } from './receiving-seat.ts'
import { incomingBody } from './request-body.ts'
import type { UploadLine } from './upload-line.ts'

/** What receiving a body takes that is no JSON. */
export interface Receiving {
  /** The line that files wait in, and whose seat there it takes. */
  readonly uploads: UploadLine
  /** What holds it where it is small. */
  readonly heldBodies: HeldBodies
  readonly sender: string
  readonly scope: Scope
  readonly deadlineSeconds: number
  readonly metrics: Pick<HttpMetrics, 'begin'>
  /** Asked when the last piece is there. */
  readonly whenWhole: () => Promise<unknown>
}

type Sent = Extract<BodyKind, { readonly mediaTypes: unknown }>

/**
 * Whether a body is received here: in its turn, within the upload deadline, and held against what its headers say of
 * it.
 */
export const isSent = (body: BodyKind): body is Sent => 'mediaTypes' in body

/**
 * The body as its operation takes it. Of the kind `stream` nothing was read yet. Throws 415 for another media type, 400
 * for a part of a file, 412 for a condition that the operation does not know (`headerNames` are those it does).
 */
export const sentBody = async (
  body: Sent,
  headerNames: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
  receiving: Receiving,
): Promise<IncomingBody | SentBytes> => {
  refuseOtherTypes(body, request)
  refuseParts(headerNames, request)
  const { uploads, heldBodies, sender, scope, deadlineSeconds, metrics, whenWhole } = receiving
  const taking = {
    scope,
    deadlineSeconds,
    beginTransfer: () => metrics.begin('in'),
    digests: bodyDigests(
      request.headers,
      headerNames.filter((name) => name === 'x-checksum-sha256'),
    ),
    whenWhole,
  }
  const held = heldBodies.hold(scope, sender)
  if (body.kind === 'stream') {
    let kept: Pick<ReceivingSeat, 'received'> | null = null
    const seat = (cut: Cut) => {
      kept = held.comes(cut)
      return uploads.enter(scope, sender, cut)
    }
    const incoming = incomingBody(request, response, {
      ...taking,
      seat,
      whenWhole: async () => {
        held.isHere()
        await whenWhole()
      },
    })
    return { ...incoming, keeps: (bytes) => kept?.received(bytes) }
  }
  const seat = async (cut: Cut) => held.comes(cut)
  const bytes = await wholeOf(incomingBody(request, response, { ...taking, seat }), body.maxBytes)
  held.isHere()
  return { mediaType: request.headers['content-type'] ?? '', bytes }
}

type Cut = (failure: Failure) => void

const mediaType = (request: IncomingMessage): string =>
  (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const refuseOtherTypes = ({ mediaTypes }: Sent, request: IncomingMessage): void => {
  if (mediaTypes !== null && !mediaTypes.includes(mediaType(request)))
    throw new Failure('unsupported_media_type', `Send the bytes with Content-Type: ${mediaTypes.join(' or ')}.`)
}

const refuseParts = (headerNames: readonly string[], { headers }: IncomingMessage): void => {
  if (headers['content-range'] !== undefined && !headerNames.includes('content-range'))
    throw invalid(
      '/headers/content-range',
      'a part of a file cannot be sent here: send the whole, or open an upload in parts',
    )
  if (headers['if-match'] !== undefined && !headerNames.includes('if-match'))
    throw new Failure('precondition_failed', 'If-Match asks for what is stored here already, and nothing can be.')
}

/** All of a small body. 413 as soon as it is said to be larger, or turns out to be. */
const wholeOf = async (
  { declaredBytes, pieces }: Omit<IncomingBody, 'keeps'>,
  maxBytes: number,
): Promise<Uint8Array> => {
  const refuseBeyond = (bytes: number): void => {
    if (bytes > maxBytes) throw new Failure('body_too_large', `The body may have at most ${maxBytes} bytes here.`)
  }
  refuseBeyond(declaredBytes ?? 0)
  const all: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.byteLength
    refuseBeyond(bytes)
    all.push(piece)
  }
  return Buffer.concat(all)
}
