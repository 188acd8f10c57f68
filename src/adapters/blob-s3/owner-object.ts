import type { Bucket } from './bucket.ts'
import { guarded } from './failures.ts'
import { objectBytes, putObject } from './objects.ts'
import { openRange } from './reading.ts'

/* What the store belongs to, in one line of a small object. */

export const readOwner = (bucket: Bucket): Promise<string | null> =>
  guarded(async () => {
    const key = bucket.keys.owner
    const bytes = await objectBytes(bucket, key)
    if (bytes === null) return null
    const pieces = await Array.fromAsync(await openRange(bucket, { key, etag: null }, { start: 0, end: bytes }, bytes))
    return Buffer.concat(pieces).toString('utf8').trim()
  })

export const writeOwner = (bucket: Bucket, owner: string): Promise<void> =>
  guarded(async () => {
    await putObject(bucket, bucket.keys.owner, Buffer.from(`${owner}\n`))
  })
