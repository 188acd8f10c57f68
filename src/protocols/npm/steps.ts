/** Bytes that are there already, in pieces of a size: no more of them than one waits for a slow client. */
export const inSteps = (bytes: Uint8Array, stepBytes: number): AsyncIterableIterator<Uint8Array> => {
  let at = 0
  const steps: AsyncIterableIterator<Uint8Array> = {
    async next() {
      if (at >= bytes.byteLength) return { done: true, value: undefined }
      const value = bytes.subarray(at, at + stepBytes)
      at += value.byteLength
      return { done: false, value }
    },
    async return() {
      at = bytes.byteLength
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => steps,
  }
  return steps
}
