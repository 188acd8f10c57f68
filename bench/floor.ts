import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * What this disk allows: 4 KiB files written, synced, renamed and their folder synced, many at once, by plain calls. No
 * server that keeps its promises can store small files faster, one file each.
 */
export const durableFilesPerSecond = async (count: number, atOnce: number): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-floor-'))
  const body = randomBytes(4096)
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
  await rm(folder, { recursive: true })
  return count / seconds
}
