/** What the work resolves with, or null when it takes longer; what it throws after that nobody hears. */
export const orLater = async <T>(work: Promise<T>, milliseconds: number): Promise<T | null> => {
  const later = Promise.withResolvers<null>()
  const timer = setTimeout(() => later.resolve(null), milliseconds)
  try {
    return await Promise.race([work, later.promise])
  } finally {
    clearTimeout(timer)
  }
}
