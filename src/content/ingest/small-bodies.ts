import { gatheredBytesMax } from '../../kernel/limits/transfers.ts'

/** A body as it came, or as it goes on coming. */
export type Gathered =
  | { readonly whole: Uint8Array; readonly pieces: null }
  | { readonly whole: null; readonly pieces: AsyncIterable<Uint8Array> }

/** Bodies that are small enough to be kept in the database are taken in whole before anything is done with them. */
export interface SmallBodies {
  /** Whether a body of so many bytes is kept inline. */
  isInline(bytes: number): boolean
  /**
   * Reads a body to its end, if it is no longer than what is kept inline and than was declared, and works with it;
   * otherwise works with the body as if nobody had looked at it. One of unknown length is read on until it has
   * `undeclaredMax` bytes, where that is more. What all of them hold in memory has a bound, beyond which they count as
   * large.
   */
  gather<T>(
    declaredBytes: number | null,
    pieces: AsyncIterable<Uint8Array>,
    work: (gathered: Gathered) => Promise<T>,
    undeclaredMax?: number,
  ): Promise<T>
}

/** `inlineBytes`: what is kept inline; nothing where it is 0. */
export const createSmallBodies = (inlineBytes: number): SmallBodies => {
  let heldBytes = 0
  const isInline = (bytes: number): boolean => inlineBytes > 0 && bytes <= inlineBytes
  return {
    isInline,

    async gather(declaredBytes, pieces, work, undeclaredMax = 0) {
      const mayTake = declaredBytes ?? Math.max(inlineBytes, undeclaredMax)
      const isSmall = declaredBytes === null ? mayTake > 0 : isInline(declaredBytes)
      if (!isSmall || heldBytes + mayTake > gatheredBytesMax) return await work({ whole: null, pieces })
      heldBytes += mayTake
      try {
        return await work(await read(pieces, mayTake))
      } finally {
        heldBytes -= mayTake
      }
    },
  }
}

const read = async (pieces: AsyncIterable<Uint8Array>, most: number): Promise<Gathered> => {
  const iterator = pieces[Symbol.asyncIterator]()
  // A piece takes more memory than it has bytes: what is counted holds them all.
  const whole = Buffer.allocUnsafeSlow(most)
  for (let bytes = 0; ; ) {
    const { done, value } = await iterator.next()
    if (done === true) return { whole: whole.subarray(0, bytes), pieces: null }
    if (bytes + value.byteLength > most)
      return { whole: null, pieces: goingOn([whole.subarray(0, bytes), value], iterator) }
    whole.set(value, bytes)
    bytes += value.byteLength
  }
}

/** What was read already, and then the rest. */
async function* goingOn(
  read: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array, unknown>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* read
    for (;;) {
      const { done, value } = await rest.next()
      if (done === true) return
      yield value
    }
  } finally {
    await rest.return?.()
  }
}
