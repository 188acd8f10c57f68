import type { Socket } from 'node:net'
import type { Target } from '../connecting.ts'

/** What came is no answer, in words. */
export class AnswerWrong extends Error {
  override readonly name = 'AnswerWrong'
}

export const notHttp = 'its answer is no HTTP'

/** A connection under a line, and what came over it. */
export interface Kept {
  readonly connection: Socket
  readonly target: Target
  answers: number
  /** Something came since the last request was sent. */
  isHeard: boolean
}

/** Of `HTTP/1.1`. */
const firstByte = 'H'.charCodeAt(0)

/**
 * Looks at the first byte of each answer before it is read: whoever reads it passes over empty lines, with which no
 * answer begins.
 */
export const keep = (connection: Socket, target: Target): Kept => {
  const kept: Kept = { connection, target, answers: 0, isHeard: false }
  connection.on('readable', () => {
    if (kept.isHeard) return
    const piece: Buffer | null = connection.read()
    if (piece === null) return
    kept.isHeard = true
    if (piece[0] === firstByte) connection.unshift(piece)
    else connection.destroy(new AnswerWrong(notHttp))
  })
  return kept
}
