/** How much a client wants a media type that it names; null for one that it does not name. */
export const weightOf = (accept: string, type: RegExp): number | null => {
  const weights = accept
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim().toLowerCase()))
    .filter(([name = '']) => type.test(name))
    .map((parts) => Number(parts.find((part) => part.startsWith('q='))?.slice(2) ?? 1))
  return weights.length === 0 ? null : Math.max(...weights.map((weight) => (Number.isNaN(weight) ? 1 : weight)))
}

/**
 * Whether a page is for this client: it names HTML, as browsers do, and wants nothing of JSON's kind more. The star of
 * curl and others names nothing.
 */
export const wantsHtml = (accept: string | undefined): boolean => {
  const page = weightOf(accept ?? '', /^text\/html$/)
  return page !== null && page > 0 && page >= (weightOf(accept ?? '', /^application\/(?:.+\+)?json$/) ?? 0)
}
