import { randomUUID } from 'node:crypto'
import { open, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { MiB } from '../../kernel/units.ts'
import { type OpenSpool, SpoolFull } from '../../ports/spool.ts'
import { fileTrouble } from './errors.ts'

/** Room is looked for after so many bytes. */
const lookedForEveryBytes = 16 * MiB

/**
 * Spools in a folder: files without a name, of which the system takes the room back by itself. They leave so many bytes
 * of its disk to others.
 */
export const spoolsIn =
  (folder: string, reserveBytes = 0): OpenSpool =>
  async () => {
    const path = join(folder, `${randomUUID()}.spool`)
    const file = await open(path, 'wx+', 0o600)
    await unlink(path)
    let end = 0
    let lookedAt = Number.NEGATIVE_INFINITY
    const refuseUnlessRoom = async (): Promise<void> => {
      if (end - lookedAt < lookedForEveryBytes) return
      lookedAt = end
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize - lookedForEveryBytes < reserveBytes) throw full()
    }
    const full = (cause?: unknown): SpoolFull =>
      new SpoolFull(`no room is left in ${folder}, where what is new of the database waits for the vault`, { cause })
    return {
      async append(bytes) {
        const start = end
        await refuseUnlessRoom()
        try {
          for (let at = 0; at < bytes.byteLength; )
            at += (await file.write(bytes, at, bytes.byteLength - at, start + at)).bytesWritten
        } catch (error) {
          throw fileTrouble(error) === 'full' ? full(error) : error
        }
        end = start + bytes.byteLength
        return start
      },
      async read(start, bytes) {
        const target = Buffer.allocUnsafeSlow(bytes)
        for (let at = 0; at < bytes; ) {
          const { bytesRead } = await file.read(target, at, bytes - at, start + at)
          if (bytesRead === 0) throw new RangeError(`a spool ends at ${start + at}, before ${start + bytes}`)
          at += bytesRead
        }
        return target
      },
      [Symbol.asyncDispose]: () => file.close(),
    }
  }
