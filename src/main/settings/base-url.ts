/**
 * First segments of paths that the service answers under, today and by what is planned. A base path begins with none of
 * them.
 */
export const ownSegments = ['api', 'health', 'console', 'favicon.ico', 'v2', 'npm', 'lfs'] as const

const segments = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/

/** An origin, and perhaps the path below which a proxy has put the service. Throws a RangeError in words. */
export const baseUrl = (text: string): string => {
  const plain = text.replace(/\/$/, '')
  const url = URL.parse(plain)
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    !plain.startsWith(url.origin) ||
    !segments.test(plain.slice(url.origin.length))
  )
    // A name and password before an @ are not repeated.
    throw new RangeError(
      `${JSON.stringify(text.replace(/[^/]*@/, '…@'))} is no address of a service; write it like https://files.example.org or https://example.org/svc`,
    )
  const [, first] = plain.slice(url.origin.length).split('/')
  if (ownSegments.some((own) => own === first?.toLowerCase()))
    throw new RangeError(`its path begins with /${first}, which is one of the service itself; choose another`)
  return plain
}
