import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, removeFolder } from './processes.ts'

/**
 * What this disk allows: small files written, synced, renamed and their folder synced, many at once, by plain calls. No
 * server that keeps its promises can store small files faster, one file each.
 */
export const durableFilesPerSecond = async (bytes: number, count: number, atOnce: number): Promise<number> => {
  const folder = await makeFolder('floor')
  const body = randomBytes(bytes)
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const file = await open(join(folder, `${index}.new`), 'wx')
      await file.write(body)
      await file.datasync()
      await file.close()
      await rename(join(folder, `${index}.new`), join(folder, String(index)))
      const directory = await open(folder, 'r')
      await directory.sync()
      await directory.close()
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: atOnce }, worker))
  const seconds = (performance.now() - began) / 1000
  await removeFolder(folder)
  return count / seconds
}

/** Seconds in which this disk takes one big file from memory, by plain calls, and has it safe. */
export const durableWriteSeconds = async (folder: string, bytes: number): Promise<number> => {
  const path = join(folder, 'plain')
  const block = randomBytes(1 << 20)
  const began = performance.now()
  const file = await open(path, 'wx')
  for (let left = bytes; left > 0; left -= block.byteLength) await file.write(block)
  await file.datasync()
  await file.close()
  const seconds = (performance.now() - began) / 1000
  await rm(path)
  return seconds
}
