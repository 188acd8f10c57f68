import { BlobStoreFull, BlobStoreUnavailable } from '../../ports/blob-store.ts'
import { fileTrouble } from '../files/errors.ts'

/**
 * What the port throws for an error of the file system. Unknown errors and the port's own pass unchanged. Whoever
 * expects a missing file asks before: what is absent here is a directory, as when a disk is not mounted.
 */
export const storeFailure = (cause: unknown): unknown => {
  const trouble = fileTrouble(cause)
  if (trouble === null || !(cause instanceof Error)) return cause
  if (trouble === 'full') return new BlobStoreFull(`no room left in the blob directory (${cause.message})`, { cause })
  return new BlobStoreUnavailable(`the blob directory fails (${cause.message})`, { cause })
}

/** Runs and throws the port's errors in place of the file system's. */
export const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw storeFailure(error)
  }
}
