import fs, { constants } from 'node:fs'
import { createGate } from '../../kernel/gate.ts'
import { fileSyncsAtOnce, largeFileSyncsAtOnce } from '../../kernel/limits/engines.ts'

/*
 * The calls of the hot paths as promises, over the callback API: half the main thread's time of `fs.promises`, whose
 * FileHandle costs an object with a finalizer each (measured: 4 KiB open, read, close: 4.6 µs against 9.8 µs).
 * They go through the module object at each call, so that a test can watch or break them.
 */

type Done = (error: Error | null) => void

const settled = (start: (done: Done) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    start((error) => (error === null ? resolve() : reject(error)))
  })

const opened = (path: string, flags: number): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.open(path, flags, 0o600, (error, descriptor) => (error === null ? resolve(descriptor) : reject(error)))
  })

export const openToRead = (path: string): Promise<number> => opened(path, constants.O_RDONLY)

/** A file that is there, to be written at offsets. */
export const openToWrite = (path: string): Promise<number> => opened(path, constants.O_WRONLY)

/** Fails with EEXIST where the file is there. */
export const create = (path: string): Promise<number> =>
  opened(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL)

export const close = (descriptor: number): Promise<void> => settled((done) => fs.close(descriptor, done))

/** For a file that was only read, or is thrown away: nothing depends on when it closes, and nothing is lost with it. */
export const closeLater = (descriptor: number): void => fs.close(descriptor, () => {})

/**
 * Syncs wait in line for a part of the thread pool: what else uses it, also the log of the database, never waits for
 * them all.
 */
const atOnce = createGate(fileSyncsAtOnce)

/** Syncs of large files wait here first, so that small ones find a place among the others. */
export const amongLarge = createGate(largeFileSyncsAtOnce)

export const fsync = (descriptor: number): Promise<void> => atOnce(() => settled((done) => fs.fsync(descriptor, done)))

export const fdatasync = (descriptor: number): Promise<void> =>
  atOnce(() => settled((done) => fs.fdatasync(descriptor, done)))

export const rename = (from: string, to: string): Promise<void> => settled((done) => fs.rename(from, to, done))

/** One more name for a file. Fails with EEXIST where anything has that name. */
export const link = (file: string, name: string): Promise<void> => settled((done) => fs.link(file, name, done))

export const unlink = (path: string): Promise<void> => settled((done) => fs.unlink(path, done))

/** Makes the entries of a directory durable. */
export const fsyncDirectory = async (path: string): Promise<void> => {
  const descriptor = await opened(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await fsync(descriptor)
  } finally {
    closeLater(descriptor)
  }
}

/** Null where there is none. */
export const stateOf = (path: string): Promise<fs.Stats | null> =>
  new Promise((resolve, reject) => {
    fs.stat(path, (error, stats) => {
      if (error === null) resolve(stats)
      else if (error.code === 'ENOENT') resolve(null)
      else reject(error)
    })
  })

export const stateOfOpen = (descriptor: number): Promise<fs.Stats> =>
  new Promise((resolve, reject) => {
    fs.fstat(descriptor, (error, stats) => (error === null ? resolve(stats) : reject(error)))
  })

/** Bytes of a file, or null where there is none. */
export const fileBytes = async (path: string): Promise<number | null> => (await stateOf(path))?.size ?? null

/**
 * Reads until `target` is full and hands over how many bytes there were: fewer only where the file ends.
 * One call of the system in all but exotic cases (a network file system that answers in part).
 */
export const readFully = (
  descriptor: number,
  target: Uint8Array,
  position: number,
  done: (error: Error | null, bytes: number) => void,
): void => {
  const more = (filled: number): void =>
    fs.read(descriptor, target, filled, target.byteLength - filled, position + filled, (error, bytes) => {
      if (error !== null) done(error, filled)
      else if (bytes === 0 || filled + bytes === target.byteLength) done(null, filled + bytes)
      else more(filled + bytes)
    })
  more(0)
}

const writeOnce = (descriptor: number, pieces: readonly Uint8Array[], position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, bytes: number): void => (error === null ? resolve(bytes) : reject(error))
    const [first] = pieces
    if (pieces.length === 1 && first !== undefined) fs.write(descriptor, first, 0, first.byteLength, position, done)
    else fs.writev(descriptor, pieces, position, done)
  })

/** What is left of the pieces after their first `bytes`. */
const after = (pieces: readonly Uint8Array[], bytes: number): Uint8Array[] => {
  let skip = bytes
  const rest: Uint8Array[] = []
  for (const piece of pieces) {
    if (skip < piece.byteLength) rest.push(skip === 0 ? piece : piece.subarray(skip))
    skip = Math.max(0, skip - piece.byteLength)
  }
  return rest
}

/**
 * Writes all of the pieces, one after the other from `position` on; in one call unless the system takes only a part.
 */
export const writeFully = async (
  descriptor: number,
  pieces: readonly Uint8Array[],
  position: number,
): Promise<void> => {
  let at = position
  let left = pieces
  while (left.length > 0) {
    const bytes = await writeOnce(descriptor, left, at)
    if (bytes === 0) throw new Error('the file system took no bytes and named no reason')
    at += bytes
    left = after(left, bytes)
  }
}
