/**
 * Endpoints that are not built yet. This list may only shrink: a declared operation that still stands here fails a
 * test.
 */

const repository = '/api/v1/repositories/{repository}'

export const endpointsToCome: readonly string[] = [
  'GET /api/v1/mirrors',
  `GET ${repository}/mirror`,
  'GET /api/v1/system/updates',
  'POST /api/v1/system/updates/requests',
  'POST /api/v1/feedback',
  'GET /api/v1/feedback/attachments',
]
