import { Failure } from '../../../kernel/failure.ts'
import { archivesAtOnce, archivesWaitingMax } from '../../../kernel/limits/packages.ts'

/**
 * A few at a time: whoever asks to have an archive looked at waits in line, up to a length, and is then told to come
 * back.
 */
export type ArchiveGate = <T>(work: () => Promise<T>) => Promise<T>

export const createArchiveGate = (atOnce = archivesAtOnce, waitingMax = archivesWaitingMax): ArchiveGate => {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < atOnce) running += 1
    else {
      if (waiting.length >= waitingMax)
        throw new Failure('busy', 'Too many packages are being registered at this moment; try again.', {
          retryAfterSeconds: 2,
        })
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      // Whoever is next takes the turn over, so that nobody slips in between.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
