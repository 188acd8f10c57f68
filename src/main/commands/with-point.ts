import type { Room } from '../../features/operating/backups/data-files.ts'
import { holdPoint } from '../../features/operating/backups/holding.ts'
import { type Manifest, readManifest } from '../../features/operating/backups/manifest.ts'
import { findPointFor } from '../restoring.ts'

/**
 * Works on the point that is meant by a word, see {@link findPointFor}. No service that lives on the vault takes it out
 * meanwhile.
 */
export const withPoint = async <T>(
  room: Room,
  wanted: string,
  of: string | null,
  work: (manifest: Manifest) => Promise<T>,
): Promise<T> => {
  const { id } = await findPointFor(room, wanted, of)
  const hold = await holdPoint(room.vault, id, (error) =>
    console.error(
      `svc: the vault cannot be told that the point is being read (${error.message}). If a service lives on it, see that its plan keeps the point.`,
    ),
  )
  try {
    // It may have gone before the vault was told.
    return await work(await readManifest(room.vault, id))
  } finally {
    await hold[Symbol.asyncDispose]()
  }
}
