import type { Answer } from '../../contract/call.ts'

/** What people say of a file. */
export type Said = Pick<Answer<'getAnnotations'>, 'labels' | 'metadata' | 'collections'>

/** What both sides of a conflict changed by themselves is kept: labels and collections as sets, metadata by key. */
export const merged = (
  base: Said,
  mine: Said,
  theirs: Said,
): { readonly value: Said; readonly clashes: readonly string[] } => {
  const sets = (one: readonly string[], ours: readonly string[], others: readonly string[]): string[] => [
    ...new Set([
      ...others.filter((each) => ours.includes(each) || !one.includes(each)),
      ...ours.filter((each) => !one.includes(each)),
    ]),
  ]
  const keys = new Set([...Object.keys(mine.metadata), ...Object.keys(theirs.metadata)])
  const metadata: Record<string, string> = {}
  const clashes: string[] = []
  for (const key of keys) {
    const [was, ours, other] = [base.metadata[key], mine.metadata[key], theirs.metadata[key]]
    if (ours !== was && other !== was && ours !== other) clashes.push(key)
    const kept = ours === was ? other : ours
    if (kept !== undefined) metadata[key] = kept
  }
  return {
    value: {
      labels: sets(base.labels, mine.labels, theirs.labels),
      collections: sets(base.collections, mine.collections, theirs.collections),
      metadata,
    },
    clashes,
  }
}

/** Metadata as lines `key=value`. */
export const pairsOf = (metadata: Readonly<Record<string, string>>): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n')

/** Lines `key=value` as metadata; a line without a sign is a key without a value. */
export const metadataOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const at = line.indexOf('=')
        return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      }),
  )
