/**
 * The highest number up to `most` for which something holds that holds for all below it, and for none above; 0 where it
 * holds for none. Each look is a question to the service: of a thousand it takes ten.
 */
export const highestThat = async (most: number, holds: (number: number) => Promise<boolean>): Promise<number> => {
  let [from, to] = [0, most]
  while (from < to) {
    const middle = Math.ceil((from + to) / 2)
    if (await holds(middle)) from = middle
    else to = middle - 1
  }
  return from
}
