import { errorCode } from '../files/errors.ts'
import { fileBytes, link, rename } from './files.ts'

/**
 * Gives a durable file of so many bytes the name of the blob that it is. By a link, which takes no other's place,
 * however late it comes: EEXIST where another file has the name. Only one that is not as long gives way, which no blob
 * of that name ever was (I3): a disk has damaged it, and this is what it was. The file then has the name instead of the
 * one that it had.
 */
export const giveFinalName = async (file: string, name: string, bytes: number): Promise<void> => {
  try {
    await link(file, name)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || (await fileBytes(name)) === bytes) throw error
    await rename(file, name)
  }
}
