import { chmod, stat } from 'node:fs/promises'
import type { Logger } from './log.ts'
import type { Settings } from './settings/rules.ts'

/** What others may do with a file, of its permissions. */
const othersBits = 0o077

/** From now on nothing that this process makes can be read by others, wherever it is made. */
export const keepFilesPrivate = (): void => {
  process.umask(othersBits)
}

/**
 * Takes from others what the files of an earlier start, or a folder that was there before, let them do: the database
 * with its log, and the folder of the stored bytes. Says so where that is not ours to take.
 */
export const narrowFiles = async ({ databaseUrl, blobStore }: Settings, log: Logger): Promise<void> => {
  const database = databaseUrl.startsWith('sqlite:') ? databaseUrl.slice('sqlite:'.length) : null
  const paths = database === null ? [] : [database, `${database}-wal`, `${database}-shm`]
  if (blobStore.kind === 'directory') paths.push(blobStore.root)
  for (const path of paths) {
    const mode = await stat(path).then(
      (found) => found.mode & 0o777,
      () => 0,
    )
    if ((mode & othersBits) === 0) continue
    await chmod(path, mode & ~othersBits).then(
      () => log.info({ path }, 'others may read this no more'),
      (error: unknown) => log.warn({ err: error, path }, 'others may read this; take that from them (chmod go=)'),
    )
  }
}
