import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** The write-ahead log of an open database, held open so that it can be synced from the thread pool. */
export interface WalFile {
  sync(): Promise<void>
  close(): void
}

/**
 * Opens the log, which must exist (some connection has used the database), and makes the names in its folder durable.
 */
export const openWalFile = (databasePath: string): WalFile => {
  const descriptor = openSync(`${databasePath}-wal`, 'r+')
  syncFolder(dirname(databasePath))
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error)))
      }),
    close: () => closeSync(descriptor),
  }
}

/** Makes the names in a folder durable. */
export const syncFolder = (path: string): void => {
  if (process.platform === 'win32') return // NTFS journals names, and a folder cannot be opened there.
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
