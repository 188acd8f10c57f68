/**
 * The sequence after which a client wants to read on; 0 where it says nothing. Its grammar (`patterns.sequence`) has no
 * more digits than a number holds exactly.
 */
export const sequenceAfter = (digits: string | undefined): number => Number(digits ?? '0')
