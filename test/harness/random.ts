import { createHash } from 'node:crypto'

/** Numbers from 0 to 1, the same for the same name. */
export const randomOf = (name: string): (() => number) => {
  let count = 0
  return () => createHash('sha256').update(`${name} ${count++}`).digest().readUInt32LE() / 2 ** 32
}
