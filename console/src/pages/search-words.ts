/** A digest in what somebody pasted: bare, as `sha256:…`, or somewhere in an address. */
export const digestIn = (text: string): string | null =>
  /(?<![0-9a-f])([0-9a-f]{64})(?![0-9a-f])/i.exec(text)?.[1]?.toLowerCase() ?? null

interface Query {
  readonly q?: string
  readonly label?: string
  readonly collection?: string
  readonly sha256?: string
}

/** What is asked of the service for what somebody typed: `label:nightly app`, a digest, or a part of a name. */
export const querySaid = (text: string): Query => {
  const sha256 = digestIn(text)
  if (sha256 !== null) return { sha256 }
  const query: { q?: string; label?: string; collection?: string } = {}
  const rest: string[] = []
  for (const word of text.split(/\s+/)) {
    const [, name, value] = /^(label|collection):(.+)$/.exec(word) ?? []
    if (name === 'label' && value !== undefined) query.label = value
    else if (name === 'collection' && value !== undefined) query.collection = value
    else if (word !== '') rest.push(word)
  }
  if (rest.length > 0) query.q = rest.join(' ')
  return query
}
