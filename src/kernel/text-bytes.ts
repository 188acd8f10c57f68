/** What texts take as UTF-8, those that there are. */
export const textBytes = (...texts: readonly unknown[]): number =>
  texts.reduce<number>((sum, text) => (typeof text === 'string' ? sum + Buffer.byteLength(text) : sum), 0)
