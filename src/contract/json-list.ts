import type { ByteAnswer } from './handler.ts'

/** Items written together: some tens of kilobytes of text. */
const itemsAtOnce = 500

/**
 * A JSON object whose last field is a long list, `items`, sent as it is read: what is in memory does not grow with it.
 * `head` answers the headers alone, and how long the body would be.
 */
export const jsonList = async (
  fields: Readonly<Record<string, unknown>>,
  items: AsyncIterable<unknown>,
  head: boolean,
): Promise<ByteAnswer> => {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  const pieces = textOf(fields, items)
  const first: Uint8Array[] = []
  let bytes = 0
  for await (const piece of head ? pieces : upTo(shortBytesMax, pieces)) {
    bytes += piece.byteLength
    if (!head) first.push(piece)
  }
  const withLength = { ...headers, 'content-length': String(bytes) }
  if (head) return { status: 200, headers: withLength, bytes: null }
  const isWhole = bytes <= shortBytesMax
  return { status: 200, headers: isWhole ? withLength : headers, bytes: isWhole ? all(first) : all(first, pieces) }
}

/** Lists up to here are put together before they are sent, so that their length is known: nearly all of them. */
const shortBytesMax = 64 * 1024

/** Pieces until there are more bytes than that, or none; the rest stays where it is. */
async function* upTo(bytes: number, pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left >= 0; ) {
    const { done, value } = await pieces.next()
    if (done === true) return
    left -= value.byteLength
    yield value
  }
}

async function* all(first: readonly Uint8Array[], rest?: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield Buffer.concat(first)
  if (rest !== undefined) yield* rest
}

async function* textOf(
  fields: Readonly<Record<string, unknown>>,
  items: AsyncIterable<unknown>,
): AsyncGenerator<Uint8Array, undefined> {
  // The fields' closing brace makes room for the list.
  const opening = JSON.stringify({ ...fields, items: [] }).slice(0, -2)
  let waiting: string[] = []
  let separator = opening
  for await (const item of items) {
    waiting.push(JSON.stringify(item))
    if (waiting.length < itemsAtOnce) continue
    yield Buffer.from(separator + waiting.join(','))
    waiting = []
    separator = ','
  }
  const rest = waiting.length === 0 && separator !== opening ? '' : separator + waiting.join(',')
  yield Buffer.from(`${rest}]}`)
}
