import { createHash } from 'node:crypto'
import { link, open, unlink } from 'node:fs/promises'
import { resolve } from 'node:path'
import { unfinishedName } from '../../adapters/files/durable-file.ts'
import { errorCode } from '../../adapters/files/errors.ts'
import { fileOfPoint } from '../../features/operating/backups/find-file.ts'
import { bytesOfDigest } from '../../features/operating/backups/point-bytes.ts'
import { isPrintable } from '../../kernel/names.ts'
import { shown } from '../../kernel/shown.ts'
import { openBackupRoom } from '../backup-vault.ts'
import { CommandFailed } from '../client/command-failed.ts'
import { readSettings } from '../settings/rules.ts'
import { withPoint } from './with-point.ts'

/** Writes one file of a point. Asks the vault alone: there may be no database any more. */
export const restoreFileCommand = async (
  point: string,
  repository: string,
  what: string,
  { output }: { readonly output?: string },
): Promise<void> => {
  const room = await openBackupRoom(readSettings(process.env))
  await withPoint(room, point, null, async (manifest) => {
    const { digest, name, bytes } = await fileOfPoint(room, manifest, repository, what)
    const found = await bytesOfDigest(room, manifest, digest)
    if (found === null) throw new CommandFailed('failed', `The point names ${digest} and does not have it.`)
    const pieces = verified(found.pieces(), digest, bytes)
    if (output === '-') {
      for await (const piece of pieces) await written(piece)
      return
    }
    const path = resolve(output ?? (/^\.{0,2}$/.test(name) || !isPrintable(name) ? digest : name))
    await writeNew(path, pieces)
    console.log(`${shown(path)}: ${bytes} bytes, SHA-256 ${digest}, as it was at ${manifest.snapshotAt}`)
  })
}

/** The same pieces; throws at the first beyond their length, and at their end unless they are what they are called. */
async function* verified(pieces: AsyncIterable<Uint8Array>, digest: string, bytes: number): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let length = 0
  for await (const piece of pieces) {
    length += piece.byteLength
    // Nobody else may fill the disk of whoever restores. Where the row tells no length it tells nothing.
    if (!(length <= bytes)) throw new CommandFailed('failed', `What the vault has is longer than ${digest}.`)
    hash.update(piece)
    yield piece
  }
  if (hash.digest('hex') !== digest) throw new CommandFailed('failed', `What the vault has is not ${digest}.`)
}

const written = (piece: Uint8Array): Promise<void> =>
  new Promise((done, failed) => {
    process.stdout.write(piece, (error) => (error ? failed(error) : done()))
  })

/** A file that is there stays as it is; one that is not gets its name once all of it is there. */
const writeNew = async (path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> => {
  const temporary = unfinishedName(path)
  const handle = await open(temporary, 'wx', 0o600)
  try {
    try {
      for await (const piece of pieces) await handle.writeFile(piece)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await link(temporary, path)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new CommandFailed('failed', `${path} is there; name another one: --output`)
    throw error
  } finally {
    await unlink(temporary)
  }
}
