import { randomFillSync } from 'node:crypto'

/** Random bytes for what comes next: asking the system for many costs as much as asking for a few. */
const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * So many random bytes (up to 64), each handed out once, and good until this is called again. For ids and names that
 * are made for each request; secrets get theirs from the system directly.
 */
export const freshBytes = (count: number): Buffer => {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return pool.subarray(used - count, used)
}
