import fs, { constants } from 'node:fs'
import { link } from 'node:fs/promises'
import { readAheadBytes } from '../../kernel/limits.ts'
import { errorCode } from './failures.ts'
import {
  close,
  closeLater,
  create,
  fsync,
  fsyncDirectory,
  openToRead,
  openToWrite,
  readFully,
  rename,
  writeFully,
} from './files.ts'
import type { Layout } from './layout.ts'
import { unlinkIfThere } from './staged-file.ts'
import { isSurelyGone, writerName } from './writer-names.ts'

/*
 * Who may still write to the file of an assembly. The caller's lease says that it is ours to write to, and is asked before each
 * write. But a write that was asked for cannot be called back: it may hang in the system, or its process may be frozen between
 * asking and writing, and land when the lease has long been somebody else's, whose part was answered as stored.
 *
 * So every try at a part has a name of its own on the file, a hard link, from before its first write until its last one has
 * settled. Whoever comes later sees by the number of names that somebody may still write: a process that is surely gone loses
 * its name; before any other the file is copied, and the copy takes its place. A write that comes late lands in the old file,
 * which nobody reads again.
 *
 * What the copy holds is right: a try writes nowhere but into the range of its own part, and that part has no row before the
 * try has settled and given its name back. Everything else in the file is at rest, and durable before the copy takes its place.
 * For the same reason whoever publishes need not look: with a row for every part, no name is left on the file but that of
 * somebody who lost the lease before the first write, and will be told so.
 */

export interface LoneWriter {
  readonly descriptor: number
  /** To be called when no write is under way any more. */
  settled(): Promise<void>
}

/** Opens the file of an assembly, which nobody else writes to from then on. Fails with ENOENT where it is gone. */
export const openAlone = async (layout: Layout, id: string): Promise<LoneWriter> => {
  for (;;) {
    const name = layout.writer(id, await writerName())
    await link(layout.staged(id), name)
    const settled = async (): Promise<void> => {
      await unlinkIfThere(name)
    }
    try {
      const descriptor = await openToWrite(name)
      if (await isAlone(layout, id, { name, descriptor })) return { descriptor, settled }
      closeLater(descriptor)
      await renew(layout, id, name)
    } catch (error) {
      await settled()
      throw error
    }
    await settled()
  }
}

/** Names that anybody has on the file of an assembly, or had before it was copied. */
export async function* writersOf(layout: Layout, id: string): AsyncGenerator<string> {
  for await (const { name } of await fs.promises.opendir(layout.staging))
    if (name !== id && layout.idOf(name) === id) yield name.slice(id.length + 1)
}

const isAlone = async (
  layout: Layout,
  id: string,
  own: { readonly name: string; readonly descriptor: number },
): Promise<boolean> => {
  // Its own name, and ours.
  if ((await names(own.descriptor)) === 2) return true
  for await (const writer of writersOf(layout, id)) {
    const name = layout.writer(id, writer)
    if (name !== own.name && (await isSurelyGone(writer, layout.staging))) await unlinkIfThere(name)
  }
  return (await names(own.descriptor)) === 2
}

const names = (descriptor: number): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.fstat(descriptor, (error, stats) => (error === null ? resolve(stats.nlink) : reject(error)))
  })

/** Puts a durable copy in the place of the file. What a crash leaves of it goes with the assembly. */
const renew = async (layout: Layout, id: string, from: string): Promise<void> => {
  const copy = layout.writer(id, await writerName())
  try {
    if (!(await sharedCopy(from, copy))) await sparseCopy(from, copy)
    const descriptor = await openToWrite(copy)
    try {
      await fsync(descriptor)
    } finally {
      await close(descriptor)
    }
    await rename(copy, layout.staged(id))
  } catch (error) {
    await unlinkIfThere(copy)
    throw error
  }
  await fsyncDirectory(layout.staging)
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
