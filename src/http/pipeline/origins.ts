import { Failure } from '../../kernel/failure.ts'

/** What a page at a listed origin may read beside the body. */
const exposed =
  'Accept-Ranges, Allow, Content-Disposition, Content-Length, Content-Range, ETag, Location, Retry-After, Svc-Download-Class, Svc-Queue-Ticket, WWW-Authenticate, X-Request-Id, X-Svc-Artifact-Id, X-Svc-Package-Version'

/**
 * Cross-origin rule (specification, Authentication): a page at another origin is refused unless its origin is listed,
 * whatever credential it has. Requests without `Origin` do not come from a page's script and pass.
 * Returns the headers that the answer needs.
 */
export const checkOrigin = (
  origin: string | undefined,
  ownOrigin: string | null,
  allowed: ReadonlySet<string>,
): Readonly<Record<string, string>> | null => {
  if (origin === undefined || origin === ownOrigin) return null
  if (!allowed.has(origin))
    throw new Failure(
      'origin_not_allowed',
      'Pages at this origin may not call the service; an administrator can list it in SVC_CORS_ORIGINS.',
    )
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
}

/** What a preflight request of a listed origin is told (Fetch standard, CORS protocol). */
export const preflightHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, Content-Digest, Content-MD5, If-Match, If-None-Match, If-Range, If-Unmodified-Since, Range, Repr-Digest, X-Checksum-Md5, X-Checksum-Sha1, X-Checksum-Sha256, X-Content-SHA256, Svc-Download-Id, Svc-Download-Class, Svc-Queue-Ticket',
  'access-control-max-age': '600',
}
