import { atOnce } from '../../kernel/at-once.ts'
import {
  objectCopyBytes,
  objectPartsMax,
  objectRequestBytesMax,
  objectRequestsAtOnce,
} from '../../kernel/limits/engines.ts'
import type { ByteRange } from '../../kernel/range.ts'
import type { Bucket } from './bucket.ts'
import { copyObject } from './objects.ts'
import { abortUpload, completeUpload, copyPart, createUpload } from './uploads.ts'

/** An object that is a segment of a blob. */
export interface Segment {
  readonly key: string
  readonly bytes: number
  readonly etag: string
}

interface Step {
  readonly key: string
  readonly etag: string
  readonly range: ByteRange
}

/**
 * How segments become one object: null where a single request copies it, else the parts in their order. The ranges of a
 * segment are about equal, so that none is too small for a part; all together are few enough for one upload.
 */
const copyPlan = (segments: readonly Segment[]): readonly Step[] | null => {
  const [first, ...others] = segments
  if (first !== undefined && others.length === 0 && first.bytes <= objectRequestBytesMax) return null
  const total = segments.reduce((sum, { bytes }) => sum + bytes, 0)
  const longest = Math.max(objectCopyBytes, Math.ceil(total / (objectPartsMax - segments.length)))
  return segments.flatMap(({ key, bytes, etag }) => {
    const steps = Math.ceil(bytes / longest)
    const edge = (step: number): number => Math.floor((bytes / steps) * step)
    return Array.from({ length: steps }, (_, step) => ({
      key,
      etag,
      range: { start: edge(step), end: step + 1 === steps ? bytes : edge(step + 1) },
    }))
  })
}

/** Copies within the store: nothing shows at the end of it until everything is there (I3). */
export const copySegments = async (bucket: Bucket, segments: readonly Segment[], to: string): Promise<void> => {
  const plan = copyPlan(segments)
  const [first] = segments
  if (plan === null && first !== undefined) return copyObject(bucket, first, to)
  const upload = await createUpload(bucket, to)
  try {
    const etags: string[] = []
    await atOnce(plan ?? [], objectRequestsAtOnce, async (step, index) => {
      etags[index] = await copyPart(bucket, upload, index + 1, step)
    })
    await completeUpload(
      bucket,
      upload,
      etags,
      segments.reduce((sum, { bytes }) => sum + bytes, 0),
    )
  } catch (error) {
    await abortUpload(bucket, upload).catch(() => {})
    throw error
  }
}
