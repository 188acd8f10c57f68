import { setImmediate as nextRound } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Database, Queries } from '../../database/database.ts'
import { createGate } from '../../kernel/gate.ts'
import {
  npmDocumentsKeptBytes,
  npmDocumentsMadeAtOnce,
  npmDocumentTries,
  npmPiecesAtOnce,
} from '../../kernel/limits/npm.ts'
import { frameOf, piecesOf, revisionNow } from './documents.queries.ts'
import { registryMark } from './vocabulary.ts'

/** The two forms in which a package is told. */
export type Form = 'full' | 'abbreviated'

/** A document as it is sent. */
interface Document {
  /** The revision of the package that it shows. */
  readonly revision: number
  readonly bytes: Uint8Array
}

interface WantedDocument {
  readonly packageId: string
  /** The newest that is known; a newer one may come. */
  readonly revision: number
  readonly form: Form
  /** The address of the registry, which stands in the document. */
  readonly registry: string
  readonly compressed: boolean
}

/** Where documents of a kind stand in the catalog. */
export interface DocumentSource {
  /** Null where the package is gone. */
  readonly putTogether: (q: Queries, wanted: WantedDocument) => Promise<Document | null>
  /** How often the package was changed. */
  readonly revisionNow: (q: Queries, packageId: string) => Promise<number | undefined>
}

/**
 * Documents of packages. They are written where a package changes; here they are put together from their pieces, once
 * for each revision, and kept in memory for whoever asks next. Which revision is the newest one, the catalog says for
 * each request, so that what is kept is never stale.
 */
export interface Documents {
  /** Null where the package is gone. */
  get(wanted: WantedDocument, source: DocumentSource): Promise<Document | null>
}

const compress = promisify(gzip)

export const createDocuments = ({ database }: { readonly database: Database }): Documents => {
  const kept = new LRUCache<string, Document>({
    maxSize: npmDocumentsKeptBytes,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes.byteLength),
  })
  const underWay = new Map<string, Promise<Document | null>>()
  /** What is being sent still, though it is kept no more: whoever asks for it now shares it. */
  const sent = new Map<string, { readonly revision: number; readonly bytes: WeakRef<Uint8Array> }>()
  const forgotten = new FinalizationRegistry<string>((key) => {
    if (sent.get(key)?.bytes.deref() === undefined) sent.delete(key)
  })
  const beingSent = (key: string): Document | undefined => {
    const known = sent.get(key)
    const bytes = known?.bytes.deref()
    return known === undefined || bytes === undefined ? undefined : { revision: known.revision, bytes }
  }

  /** Read piece by piece, and again where the package was changed meanwhile. */
  const plain = async (wanted: WantedDocument, source: DocumentSource): Promise<Document | null> => {
    const q = database.reader
    for (let tries = 0; tries < npmDocumentTries; tries++) {
      const found = await source.putTogether(q, wanted)
      if (found === null || (await source.revisionNow(q, wanted.packageId)) === found.revision) return found
    }
    return await database.snapshot((state) => source.putTogether(state, wanted))
  }

  /** Clients decide under which address they know us, so that there is no end of what they can have made. */
  const making = createGate(npmDocumentsMadeAtOnce)
  const made = async (wanted: WantedDocument, source: DocumentSource): Promise<Document | null> => {
    if (!wanted.compressed) return await making(() => plain(wanted, source))
    const whole = await get({ ...wanted, compressed: false }, source)
    return whole === null ? null : { revision: whole.revision, bytes: await making(() => compress(whole.bytes)) }
  }

  const get = async (wanted: WantedDocument, source: DocumentSource): Promise<Document | null> => {
    const key = keyOf(wanted)
    const there = kept.get(key) ?? beingSent(key)
    if (there !== undefined) return there
    const waited = underWay.get(key)
    if (waited !== undefined) return await waited
    const beingMade = made(wanted, source)
    underWay.set(key, beingMade)
    try {
      const document = await beingMade
      if (document === null) return null
      const { revision, bytes } = document
      const shown = keyOf({ ...wanted, revision })
      kept.set(shown, document)
      sent.set(shown, { revision, bytes: new WeakRef(bytes) })
      forgotten.register(bytes, shown)
      return document
    } finally {
      underWay.delete(key)
    }
  }
  return { get }
}

const keyOf = ({ packageId, revision, form, registry, compressed }: WantedDocument): string =>
  [packageId, revision, form, compressed, registry].join(' ')

const putTogether = async (q: Queries, { packageId, form, registry }: WantedDocument): Promise<Document | null> => {
  const frame = await frameOf(q, packageId)
  if (frame === undefined) return null
  const isFull = form === 'full'
  const parts: Buffer[] = []
  const add = (text: string): void => void parts.push(Buffer.from(text.replaceAll(registryMark, registry)))
  const addPieces = async (column: 'versions' | 'abbreviated' | 'times', before: string): Promise<void> => {
    let between = before
    for (let after = 0; ; ) {
      const some = await piecesOf(q, packageId, column, after, npmPiecesAtOnce)
      for (const { text } of some) {
        if (text === '') continue
        add(between + text)
        between = ','
      }
      const last = some.at(-1)
      if (last === undefined || some.length < npmPiecesAtOnce) return
      after = last.number
      // Others have their turn while a large one is put together.
      await nextRound()
    }
  }
  add(`${isFull ? frame.head : frame.abbreviated_head}"versions":{`)
  await addPieces(isFull ? 'versions' : 'abbreviated', '')
  add(`},"time":{${frame.times}`)
  await addPieces('times', ',')
  add(isFull ? `}${frame.tail}` : '}}')
  return { revision: frame.revision, bytes: Buffer.concat(parts) }
}

/** Documents of packages that are published here. */
export const ownDocuments: DocumentSource = { putTogether, revisionNow }
