/**
 * The sequence after which a client wants to read on, from its decimal digits; 0 where it says nothing. A sequence beyond
 * what a number holds exactly does not exist, and no database takes it: it becomes the largest that may.
 */
export const sequenceAfter = (digits: string | undefined): number =>
  Math.min(Number(digits ?? '0'), Number.MAX_SAFE_INTEGER)
