/** A list in pieces of so many, the last of which may be shorter. */
export const inPieces = <T>(all: readonly T[], length: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / length) }, (_, at) => all.slice(at * length, (at + 1) * length))
