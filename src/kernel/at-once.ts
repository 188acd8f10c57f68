/**
 * Works on every item, so many at once, in order. After a failure nothing new is begun; it is thrown when the rest has
 * ended.
 */
export const atOnce = async <T>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> => {
  const under = new Set<Promise<void>>()
  const failures: unknown[] = []
  let index = 0
  try {
    for await (const item of items) {
      const one = work(item, index++)
        .catch((error: unknown) => {
          failures.push(error)
        })
        .finally(() => under.delete(one))
      under.add(one)
      if (under.size >= most) await Promise.race(under)
      if (failures.length > 0) break
    }
  } finally {
    await Promise.all(under)
  }
  if (failures.length > 0) throw failures[0]
}
