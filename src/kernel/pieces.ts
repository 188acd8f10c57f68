/** A list in pieces of so many, the last of which may be shorter. */
export const inPieces = <T>(all: readonly T[], length: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / length) }, (_, at) => all.slice(at * length, (at + 1) * length))

/** The same bytes in pieces of so many at least, but for the last one: a sender may send them one by one. */
export async function* gathered(pieces: AsyncIterable<Uint8Array>, bytesMin: number): AsyncGenerator<Uint8Array> {
  let held: Uint8Array<ArrayBuffer> | null = null
  let bytes = 0
  for await (const piece of pieces) {
    if (held === null && piece.byteLength >= bytesMin) {
      yield piece
      continue
    }
    held ??= new Uint8Array(2 * bytesMin)
    if (bytes + piece.byteLength > held.byteLength) {
      yield held.subarray(0, bytes)
      yield piece
      held = null
      bytes = 0
      continue
    }
    held.set(piece, bytes)
    bytes += piece.byteLength
    if (bytes < bytesMin) continue
    yield held.subarray(0, bytes)
    held = null
    bytes = 0
  }
  if (held !== null && bytes > 0) yield held.subarray(0, bytes)
}
