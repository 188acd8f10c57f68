import Type from 'typebox'

const said = (description: string) => Type.Optional(Type.String({ description }))

/**
 * What may be said of a body that is streamed, on every operation that takes one: 422 `checksum_mismatch` where it is
 * not so, and 400 where nothing of it is understood.
 */
export const BodyDigestHeaders = {
  'content-digest': said('digests of the body (RFC 9530): sha-256, sha-512, md5 or sha'),
  'repr-digest': said('the same, since the body is the whole file'),
  'content-md5': said('MD5 of the body in base64'),
  'x-checksum-md5': said('MD5 of the body, 32 hexadecimal digits'),
  'x-checksum-sha1': said('SHA-1 of the body, 40 hexadecimal digits'),
}
