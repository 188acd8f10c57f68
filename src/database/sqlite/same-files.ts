import { stat } from 'node:fs/promises'
import { DatabaseUnavailable } from '../unavailable.ts'

/**
 * Notices that the files of an open database were removed or replaced under the process. It would go on reading and
 * writing files that have no name any more, and everything that it acknowledges would be gone when it ends.
 *
 * A file is the one that it was at the first look; nobody removes the log while somebody has the database open.
 */
export const watchFiles = (path: string): (() => Promise<void>) => {
  const seen = new Map<string, string>()
  const look = async (file: string): Promise<void> => {
    const now = await stat(file).then(
      ({ dev, ino }) => `${dev}/${ino}`,
      () => null,
    )
    const before = seen.get(file)
    if (before === undefined && now !== null) seen.set(file, now)
    if (before !== undefined && now !== before)
      throw new DatabaseUnavailable(
        `${file} was ${now === null ? 'removed' : 'replaced'} while the service has it open: what is stored from now on would be lost when it ends. Stop the service, put the file back, and start again.`,
      )
  }
  return async () => {
    await look(path)
    await look(`${path}-wal`)
  }
}
