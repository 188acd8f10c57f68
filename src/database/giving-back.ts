import { setTimeout as pause } from 'node:timers/promises'
import {
  databaseFreeBytesKept,
  databaseFreeShareKept,
  databaseGivenBackAtOnce,
  databaseGivesBackEveryMs,
} from '../kernel/limits/engines.ts'
import type { Database } from './database.ts'
import { databaseSize } from './size.queries.ts'

/**
 * Gives room that rows have left back to the disk, in small steps between which others write, while there is more of it
 * than what comes next will take again. To be run by the clock. Nothing to do on a server: its own upkeep makes such
 * room usable again.
 */
export const giveBackRoom = async (
  { database }: { readonly database: Database },
  stopping: () => boolean = () => false,
): Promise<void> => {
  if (database.giveBack === undefined) return
  while (!stopping()) {
    const { bytes, freeBytes } = await databaseSize(database)
    const spare = (freeBytes ?? 0) - Math.max(databaseFreeBytesKept, bytes * databaseFreeShareKept)
    if (spare <= 0 || (await database.giveBack(Math.min(spare, databaseGivenBackAtOnce))) === 0) return
    await pause(databaseGivesBackEveryMs)
  }
}
