import type { Database, Queries } from '../database/database.ts'

/** As much of the database as whoever tells of journals needs. */
export type Telling = Pick<Database, 'reader' | 'settled'>

/**
 * The one door to lines of journals for whoever tells them on, in pages or in deliveries. What was told is never taken
 * back, not even by a power cut: the sequence would come again and mean something else, and a follower would miss that.
 */
export const tellable = async <T>(database: Telling, read: (q: Queries) => Promise<T>): Promise<T> => {
  const lines = await read(database.reader)
  await database.settled()
  return lines
}
