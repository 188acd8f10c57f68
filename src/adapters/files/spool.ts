import { randomUUID } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenSpool } from '../../ports/spool.ts'

/** Spools in a folder: files without a name, of which the system takes the room back by itself. */
export const spoolsIn =
  (folder: string): OpenSpool =>
  async () => {
    const path = join(folder, `${randomUUID()}.spool`)
    const file = await open(path, 'wx+', 0o600)
    await unlink(path)
    let end = 0
    return {
      async append(bytes) {
        const start = end
        for (let at = 0; at < bytes.byteLength; )
          at += (await file.write(bytes, at, bytes.byteLength - at, start + at)).bytesWritten
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
