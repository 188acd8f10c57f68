/** What the system said is wrong, as `ENOENT`; undefined for what the system did not say. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/**
 * What can be wrong with a file, its folder or the disk below: no room; nothing there (or a file where a folder should
 * be on the way); not allowed; contents that make no sense to the file system; or a disk that does not answer, or not
 * now, because it is broken, was taken away, or the process is out of descriptors or memory.
 */
export type FileTrouble = 'full' | 'absent' | 'denied' | 'spoilt' | 'away'

const known: readonly (readonly [FileTrouble, readonly string[]])[] = [
  ['full', ['ENOSPC', 'EDQUOT']],
  ['absent', ['ENOENT', 'ENOTDIR']],
  ['denied', ['EACCES', 'EPERM', 'EROFS']],
  ['spoilt', ['EUCLEAN', 'EBADMSG']],
  ['away', ['EIO', 'ENXIO', 'ENODEV', 'ESTALE', 'ETIMEDOUT', 'ENOTCONN', 'EHOSTDOWN', 'EREMOTEIO', 'ESHUTDOWN']],
  ['away', ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EBUSY', 'EINTR']],
]

const troubles = new Map(known.flatMap(([trouble, codes]) => codes.map((code) => [code, trouble])))

/** Null for what is none of these. */
export const fileTrouble = (error: unknown): FileTrouble | null => troubles.get(errorCode(error) ?? '') ?? null
