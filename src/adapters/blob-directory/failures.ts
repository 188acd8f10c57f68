import { BlobStoreFull, BlobStoreUnavailable } from '../../ports/blob-store.ts'

const full = new Set(['ENOSPC', 'EDQUOT'])

/**
 * The disk does not answer, or not now: broken, unmounted, read-only, taken away, or out of descriptors or memory.
 * ENOENT and ENOTDIR are here because whoever expects a missing file asks before: what is left is a missing directory.
 */
const unavailable = new Set([
  ...['EIO', 'ENXIO', 'ENODEV', 'EROFS', 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EUCLEAN', 'EBADMSG'],
  ...['ESTALE', 'ETIMEDOUT', 'ENOTCONN', 'EHOSTDOWN', 'EREMOTEIO', 'ESHUTDOWN'],
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EINTR'],
])

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** What the port throws for an error of the file system. Unknown errors and the port's own pass unchanged. */
export const storeFailure = (cause: unknown): unknown => {
  const code = errorCode(cause)
  if (code === undefined || !(cause instanceof Error)) return cause
  if (full.has(code)) return new BlobStoreFull(`no room left in the blob directory (${cause.message})`, { cause })
  if (unavailable.has(code)) return new BlobStoreUnavailable(`the blob directory fails (${cause.message})`, { cause })
  return cause
}

/** Runs and throws the port's errors in place of the file system's. */
export const guarded = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run()
  } catch (error) {
    throw storeFailure(error)
  }
}
