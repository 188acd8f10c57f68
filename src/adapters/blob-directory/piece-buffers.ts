import * as limits from '../../kernel/limits.ts'

/** Idle buffers kept for the next reader: 16 MiB, enough for sixteen transfers that end and begin at once. */
const idleMax = 32

const idle: Buffer[] = []

/** A buffer of `readAheadBytes` with anything in it. Slow to make (its pages are fresh), so they are used again. */
export const takeBuffer = (): Buffer => idle.pop() ?? Buffer.allocUnsafeSlow(limits.readAheadBytes)

/** Only for a buffer that no read is filling and no consumer is looking at. */
export const giveBuffer = (buffer: Buffer): void => {
  if (idle.length < idleMax) idle.push(buffer)
}
