/**
 * Headers of every answer that is somebody's content. It is shown to nobody's browser as a page: `nosniff` keeps it
 * from guessing a type, the policy takes scripts, forms and the origin away from whatever is opened in spite of
 * `attachment`, and `no-referrer` keeps addresses private.
 */
export const contentGuards: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}
