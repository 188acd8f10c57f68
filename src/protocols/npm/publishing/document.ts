import { parse } from 'secure-json-parse'
import type { IncomingBody } from '../../../contract/handler.ts'
import { isBeyond } from '../../../kernel/json-pieces.ts'
import {
  npmDocumentPartsMax,
  npmDocumentRestMaxBytes,
  npmJsonDepthMax,
  npmJsonPartsMax,
  npmVersionKeptBytes,
  npmVersionMaxBytes,
  npmVersionsMax,
  npmVersionsSentMaxBytes,
} from '../../../kernel/limits/npm.ts'
import { type Fields, isObject, objectOf } from '../fields.ts'
import { badPackage, tooLarge } from '../refusals.ts'
import { type Cut, Cutter } from './cutting.ts'

/** Data of an attachment that is coming; it is read to its end before anything else is asked for. */
export interface Attachment {
  readonly name: string
  /** What stands between the quotes of a JSON string. */
  readonly data: AsyncIterable<Buffer>
}

/** A document of a package as it comes from a client. */
export interface IncomingDocument {
  /** Reads on to the next attachment; null at the end. 400 for what is no such document, 413 for one too large. */
  next(): Promise<Attachment | null>
  /** Versions that came so far, as JSON, by the names that they have there. */
  readonly versions: ReadonlyMap<string, Buffer>
  /** Everything else, once the end was read. */
  rest(): Fields
}

/**
 * Reads a document as it comes. Memory is bounded whatever is sent: only attachments may be large, and what is kept
 * counts with what others keep of theirs.
 */
export const readDocument = ({ pieces, keeps }: Pick<IncomingBody, 'pieces' | 'keeps'>): IncomingDocument => {
  const cutter = new Cutter()
  const versions = new Map<string, Buffer>()
  const kept: Buffer[] = []
  let keptBytes = 0
  let versionBytes = 0

  const keep = (cut: Cut): void => {
    if (cut.kind === 'rest') {
      keptBytes += cut.bytes.byteLength
      if (keptBytes > npmDocumentRestMaxBytes)
        throw tooLarge(`What is said of a package has at most ${npmDocumentRestMaxBytes} bytes, its readme included.`)
      kept.push(Buffer.from(cut.bytes))
    } else if (cut.kind === 'version') {
      const { version, text } = cut
      versionBytes += text.byteLength
      if (text.byteLength > npmVersionMaxBytes)
        throw tooLarge(`A version is told in at most ${npmVersionMaxBytes} bytes, its readme included.`)
      if (versionBytes > npmVersionsSentMaxBytes || versions.size >= npmVersionsMax)
        throw tooLarge(`A document has at most ${npmVersionsMax} versions of ${npmVersionsSentMaxBytes} bytes.`)
      if (versions.has(version)) throw badPackage(`The version ${version} stands in the document twice.`)
      versions.set(version, text)
    }
  }
  let rest: Fields | null = null
  let counted = 0
  const count = (): void => {
    const now = keptBytes + versionBytes + cutter.heldBytes + versions.size * npmVersionKeptBytes
    keeps(now - counted)
    counted = now
  }
  const cuts = cutsOf(cutter, pieces, count)
  async function* dataOf(): AsyncGenerator<Buffer> {
    for (;;) {
      const { done, value } = await cuts.next()
      if (done === true) throw badPackage(notWhole)
      if (value.kind === 'ended') return
      if (value.kind === 'data') yield value.bytes
    }
  }
  return {
    versions,
    async next() {
      for (;;) {
        const { done, value } = await cuts.next()
        if (done === true) {
          if (!cutter.isWhole || keptBytes === 0) throw badPackage(notWhole)
          return null
        }
        if (value.kind === 'begun') return { name: value.attachment, data: dataOf() }
        keep(value)
      }
    },
    rest() {
      rest ??= jsonObject(Buffer.concat(kept), 'The document', npmDocumentPartsMax)
      return rest
    },
  }
}

const notWhole = 'The body is no JSON document of a package: it ends in the middle.'

async function* cutsOf(
  cutter: Cutter,
  pieces: AsyncIterable<Uint8Array>,
  count: () => void,
): AsyncGenerator<Cut, undefined> {
  for await (const piece of pieces) {
    yield* cutter.cut(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
    count()
    if (cutter.heldBytes > npmVersionMaxBytes)
      throw tooLarge(`A version is told in at most ${npmVersionMaxBytes} bytes, its readme included.`)
  }
  return undefined
}

/**
 * An object that stands in JSON. 400 for anything else, for names by which prototypes are reached, and for one that is
 * made of so much that to parse it, or to write it again, would keep everybody waiting.
 */
export const jsonObject = (bytes: Buffer, what: string, partsMax: number = npmJsonPartsMax): Fields => {
  const text = bytes.toString()
  if (isBeyond(text, { count: partsMax, depth: npmJsonDepthMax }))
    throw badPackage(`${what} is nested deeper than ${npmJsonDepthMax} levels, or has more than ${partsMax} parts.`)
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw badPackage(`${what} is not JSON that can be taken: ${error instanceof Error ? error.message : 'malformed'}.`)
  }
  if (!isObject(value)) throw badPackage(`${what} is not a JSON object.`)
  return objectOf(value)
}
