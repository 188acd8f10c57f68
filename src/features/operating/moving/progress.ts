import { progressEveryMs } from '../../../kernel/limits/engines.ts'

/** Tells now and then how far something is. */
export interface Progress {
  /** Told if the last time is long ago; the words are made only then. */
  tell(words: () => string): void
}

export const progressTo = (say: (line: string) => void): Progress => {
  let toldAt = performance.now()
  return {
    tell(words) {
      if (performance.now() - toldAt < progressEveryMs) return
      toldAt = performance.now()
      say(words())
    },
  }
}
