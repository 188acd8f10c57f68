import type { ByteAnswer } from './handler.ts'

/** Items written together: some tens of kilobytes of text. */
const itemsAtOnce = 500

/**
 * A JSON object whose last field is a long list, `items`, sent as it is read: what is in memory does not grow with it.
 * `head` answers the headers alone.
 */
export const jsonList = (
  fields: Readonly<Record<string, unknown>>,
  items: AsyncIterable<unknown>,
  head: boolean,
): ByteAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  bytes: head ? null : textOf(fields, items),
})

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
