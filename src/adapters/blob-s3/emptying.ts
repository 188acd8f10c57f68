import { atOnce } from '../../kernel/at-once.ts'
import { objectRequestsAtOnce } from '../../kernel/limits/engines.ts'
import type { Bucket } from './bucket.ts'
import { objectsBelow } from './listing.ts'
import { deleteObject } from './objects.ts'

/** Deletes the objects of a place in staging, whichever try they are of. */
export const emptyPlace = (bucket: Bucket, place: string): Promise<void> =>
  atOnce(objectsBelow(bucket, bucket.keys.inPlace(place)), objectRequestsAtOnce, ({ key }) => deleteObject(bucket, key))
