import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from './errors.ts'

/**
 * Makes a folder that only the owner may enter, with those above it that are missing; others may make them meanwhile.
 * Answers the highest that it made, and undefined when all were there. Node's own way (`recursive`) goes on for ever
 * where the system says of a new folder that it cannot be found although the one above it is there (seen in `/proc`).
 */
export const makeFolders = async (path: string): Promise<string | undefined> => {
  try {
    return await makeOne(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    const above = await makeFolders(dirname(path))
    const made = await makeOne(path)
    return above ?? made
  }
}

const makeOne = async (path: string): Promise<string | undefined> => {
  try {
    await mkdir(path, { mode: 0o700 })
    return path
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && (await stat(path)).isDirectory()) return undefined
    throw error
  }
}
