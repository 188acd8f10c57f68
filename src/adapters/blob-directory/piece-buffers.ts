import { idleReadBuffersMax } from '../../kernel/limits/engines.ts'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'

const idle: Buffer[] = []

/** A buffer of `readAheadBytes` with anything in it. Slow to make (its pages are fresh), so they are used again. */
export const takeBuffer = (): Buffer => idle.pop() ?? Buffer.allocUnsafeSlow(readAheadBytes)

/** Only for a buffer that no read is filling and no consumer is looking at. */
export const giveBuffer = (buffer: Buffer): void => {
  if (idle.length < idleReadBuffersMax) idle.push(buffer)
}
