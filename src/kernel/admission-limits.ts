/** Bounds of admission: what one caller may take of what all share. See also `limits.ts`. */

/** Values in a body up to which all its faults are looked for, in a millisecond or two; of a longer one the first is told. */
export const problemValuesMax = 2_000
