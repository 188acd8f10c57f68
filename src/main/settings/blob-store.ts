import { join, resolve } from 'node:path'

/**
 * Where the bytes are. Credentials of an object store are not part of it: its client finds them in the AWS variables.
 */
export type BlobStoreSetting =
  | { readonly kind: 'directory'; readonly root: string; readonly staging: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      /** Empty, or ends with a slash. */
      readonly prefix: string
      /** Null for AWS itself. */
      readonly endpoint: string | null
      readonly region: string
      readonly pathStyle: boolean
    }

type Environment = Readonly<Record<string, string | undefined>>

/** What SVC_BLOB_STORE says. Throws a RangeError in a sentence for what it cannot be. */
export const blobStoreSetting = (text: string, environment: Environment): BlobStoreSetting => {
  if (text.startsWith('s3:')) return objectStore(text, environment)
  if (!text.startsWith('file:') || text.length === 'file:'.length)
    throw new RangeError(
      `${JSON.stringify(text)} is no blob store; write it like file:/path/to/folder or s3://bucket/prefix?region=eu-central-1`,
    )
  const root = resolve(text.slice('file:'.length))
  return Object.freeze({ kind: 'directory', root, staging: join(root, 'staging') })
}

const bucketName = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/
/** With the longest key after it, a prefix must stay within 1,024 bytes. */
const keyPrefix = /^(?:[\w.-]+\/){0,8}$/
const prefixMaxCharacters = 100
const regionName = /^[a-z0-9-]{1,40}$/

const objectStore = (text: string, environment: Environment): BlobStoreSetting => {
  const [, bucket = '', path = '', query = ''] = /^s3:\/\/([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text) ?? []
  // The whole value is not repeated: somebody may have put credentials into it.
  if (!bucketName.test(bucket))
    throw new RangeError(
      'write it like s3://bucket/prefix?endpoint=https://…&region=…; credentials go into AWS variables',
    )
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`
  if (!keyPrefix.test(prefix) || prefix.length > prefixMaxCharacters)
    throw new RangeError(`the prefix may have ${prefixMaxCharacters} letters, digits and . _ - between slashes`)
  const given = new URLSearchParams(query)
  for (const name of given.keys())
    if (!['endpoint', 'region', 'pathStyle'].includes(name) || given.getAll(name).length > 1)
      throw new RangeError(
        `${JSON.stringify(name)} is unknown or given twice; there are endpoint, region and pathStyle`,
      )
  const region = given.get('region') ?? environment['AWS_REGION']?.trim() ?? 'us-east-1'
  if (!regionName.test(region)) throw new RangeError(`${JSON.stringify(region)} is no region, such as eu-central-1`)
  const endpoint = given.get('endpoint')
  const pathStyle = given.get('pathStyle') ?? String(endpoint !== null)
  if (pathStyle !== 'true' && pathStyle !== 'false') throw new RangeError('pathStyle is either true or false')
  return Object.freeze({
    kind: 's3',
    bucket,
    prefix,
    endpoint: endpoint === null ? null : origin(endpoint),
    region,
    pathStyle: pathStyle === 'true',
  })
}

const origin = (text: string): string => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, ''))
    throw new RangeError('the endpoint is an origin without a path, such as https://s3.example.org')
  return url.origin
}
