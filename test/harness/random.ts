import { hash } from 'node:crypto'

/** Numbers from 0 to 1, the same for the same name. SFC32, begun from a digest of the name. */
export const randomOf = (name: string): (() => number) => {
  const seed = hash('sha256', name, 'buffer')
  let [a, b, c, count] = [seed.readInt32LE(0), seed.readInt32LE(4), seed.readInt32LE(8), seed.readInt32LE(12)]
  return () => {
    const next = (((a + b) | 0) + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + next) | 0
    return (next >>> 0) / 2 ** 32
  }
}
