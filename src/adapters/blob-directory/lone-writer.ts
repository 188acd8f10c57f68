import fs, { constants } from 'node:fs'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import { BlobStoreUnavailable } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import {
  amongLarge,
  close,
  closeLater,
  create,
  fsync,
  fsyncDirectory,
  link,
  openToRead,
  openToWrite,
  readFully,
  stateOfOpen,
  writeFully,
} from './files.ts'
import type { Layout } from './layout.ts'
import { namesOf, newestFile, removeNumbers, withNewestFile } from './numbered-files.ts'
import { unlinkIfThere } from './staged-file.ts'
import { isSurelyGone, writerName } from './writer-names.ts'

/*
 * Who may still write to the file of an assembly. The caller's lease says that it is ours to write to, and is asked
 * before each write. But a write that was asked for cannot be called back: it may hang in the system, or its process
 * may be frozen between asking and writing, and land when the lease has long been somebody else's, whose part was
 * answered as stored.
 *
 * So every try at a part has a name of its own on the file, a hard link, from before its first write until its last one
 * has settled. Whoever comes later sees by the number of names that somebody may still write: a process that is surely
 * gone loses its name; before any other the file is copied, and the copy gets the next number (numbered-files.ts). A
 * write that comes late lands in the old file, which nobody reads again.
 *
 * What the copy holds is right: a try writes nowhere but into the range of its own part, and that part has no row
 * before the try has settled and given its name back. Everything else in the file is at rest, and durable before the
 * copy gets its number.
 *
 * Somebody whose lease ran out may copy as well, and late, beside a try that writes. So every try looks once more when
 * its last write has settled, before it counts: no other name, and no higher number. Whoever copies from then on copies
 * it, too. For the same reason whoever publishes need not count names: with a row for every part, every part is in the
 * highest file.
 */

export interface LoneWriter {
  /** The number that the file had when it was opened. */
  readonly number: number
  readonly descriptor: number
  /**
   * To be called when no write is under way any more. Throws unless what was written is there for good: ENOENT where
   * nothing is.
   */
  assertAlone(): Promise<void>
  /** To be called when no write is under way any more, after that. */
  settled(): Promise<void>
}

/** A try at a part: its name on the file, and the file that it is a name of. */
interface Try {
  readonly name: string
  readonly number: number
  readonly descriptor: number
}

/**
 * Opens the file of an assembly, which nobody else writes to from then on. Fails with ENOENT where it is gone.
 * `mayWrite` throws where it is not ours any more, and is asked before another file takes its place.
 */
export const openAlone = async (layout: Layout, id: string, mayWrite: () => void = () => {}): Promise<LoneWriter> => {
  for (;;) {
    const name = layout.writer(id, await writerName())
    const { number } = await withNewestFile(layout, id, async (file) => {
      await link(file.path, name)
      return file
    })
    const settled = async (): Promise<void> => {
      await unlinkIfThere(name)
    }
    let descriptor: number | undefined
    try {
      descriptor = await openToWrite(name)
      const own = { name, number, descriptor }
      if ((await isAlone(layout, id, own)) || (await isAloneBesideDead(layout, id, own))) {
        await settleOn(layout, id, number)
        const assertAlone = async (): Promise<void> => {
          if (await isAlone(layout, id, own)) return
          await newestFile(layout, id)
          throw new BlobStoreUnavailable(takenOver)
        }
        return { number, descriptor, assertAlone, settled }
      }
      mayWrite()
      await renew(layout, id, own)
    } catch (error) {
      if (descriptor !== undefined) closeLater(descriptor)
      await settled()
      throw error
    }
    closeLater(descriptor)
    await settled()
  }
}

const takenOver = 'another process took over the file of this upload while a part was written: send the part again'

/**
 * Names first: whoever has given up another one by then has made a higher number before. Two names may also be those of
 * two tries, on a file that has lost its number.
 */
const isAlone = async (layout: Layout, id: string, { number, descriptor }: Try): Promise<boolean> => {
  const { nlink, ino } = await stateOfOpen(descriptor)
  // Its number, and ours.
  if (nlink !== 2) return false
  const newest = await newestFile(layout, id)
  return newest.number === number && newest.inode === ino
}

const isAloneBesideDead = async (layout: Layout, id: string, own: Try): Promise<boolean> => {
  for await (const file of namesOf(layout, id)) {
    const path = `${layout.staging}/${file}`
    if (layout.numberOf(file) !== null || path === own.name) continue
    if (await isSurelyGone(file.slice(id.length + 1), layout.staging)) await unlinkIfThere(path)
  }
  return isAlone(layout, id, own)
}

/** A later number is durable before a part counts that is in it, whoever made it, and before those below it go. */
const settleOn = async (layout: Layout, id: string, number: number): Promise<void> => {
  if (number === 1) return
  await fsyncDirectory(layout.staging)
  await removeNumbers(layout, id, number - 1)
}

/** Gives a durable copy the next number, unless somebody else did. What a crash leaves of it goes with the assembly. */
const renew = async (layout: Layout, id: string, { name, number }: Try): Promise<void> => {
  const copy = layout.writer(id, await writerName())
  try {
    if (!(await sharedCopy(name, copy))) await sparseCopy(name, copy)
    const descriptor = await openToWrite(copy)
    try {
      await amongLarge(() => fsync(descriptor))
    } finally {
      await close(descriptor)
    }
    await link(copy, layout.numbered(id, number + 1))
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    await unlinkIfThere(copy)
  }
}

/** On file systems that can, which takes no time and no room. */
const sharedCopy = async (from: string, to: string): Promise<boolean> => {
  try {
    await fs.promises.copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE)
    return true
  } catch (error) {
    if (['ENOENT', 'ENOSPC', 'EIO'].includes(errorCode(error) ?? '')) throw error
    await unlinkIfThere(to)
    return false
  }
}

/** Leaves holes, which take no room and may be most of the file. */
const sparseCopy = async (from: string, to: string): Promise<void> => {
  const source = await openToRead(from)
  try {
    const target = await create(to)
    try {
      const piece = Buffer.alloc(readAheadBytes)
      const nothing = Buffer.alloc(readAheadBytes)
      let at = 0
      for (let bytes = piece.byteLength; bytes === piece.byteLength; at += bytes) {
        bytes = await read(source, piece, at)
        const filled = piece.subarray(0, bytes)
        if (!filled.equals(nothing.subarray(0, bytes))) await writeFully(target, [filled], at)
      }
      await fs.promises.truncate(to, at)
    } finally {
      await close(target)
    }
  } finally {
    closeLater(source)
  }
}

const read = (descriptor: number, target: Uint8Array, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    readFully(descriptor, target, position, (error, bytes) => (error === null ? resolve(bytes) : reject(error)))
  })
