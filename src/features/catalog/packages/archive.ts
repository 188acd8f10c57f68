import { setImmediate as others } from 'node:timers/promises'
import { crc32, inflateRaw } from 'node:zlib'
import {
  type Entry,
  fromRandomAccessReaderPromise,
  type LocalFileHeader,
  RandomAccessReader,
  type ZipFile,
} from 'yauzl'
import type { StoredBytes } from '../../../content/checks/stored-bytes.ts'
import { archiveEntriesAtOnce, packageManifestBytesMax } from '../../../kernel/limits/packages.ts'
import { type Directory, readDirectory } from './archive-end.ts'
import { type CheckedEntry, checkEntry } from './archive-entries.ts'
import { createNameSet } from './archive-names.ts'
import { refuseArchive, refuseEntry } from './archive-refusal.ts'

const manifestName = 'upack.json'
const directoryHeaderBytes = 46
/** Flags that the local header of an entry repeats: encrypted, sizes follow the data, name is UTF-8. */
const repeatedFlags = 0x1 | 0x8 | 0x800
const sizesFollow = 0x8
const largeField = 0x0001
const elsewhere = 0xffffffff
/**
 * What an entry may have and the directory does not tell: extra fields before its data, and a descriptor (ZIP64) behind
 * it.
 */
const unlistedBytesMax = 0xffff + 24

/** What went wrong while reading, kept apart from what is wrong with the archive. */
class RangeReader extends RandomAccessReader {
  readonly #file: StoredBytes
  /** Failed to read: not the fault of whoever made the archive. */
  fault: unknown = null

  constructor(file: StoredBytes) {
    super()
    this.#file = file
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#file.read(position, length).then(
      (bytes) => {
        buffer.set(bytes, offset)
        callback(null)
      },
      (error: unknown) => {
        if (!(error instanceof RangeError)) this.fault = error
        callback(error instanceof Error ? error : new Error('reading failed', { cause: error }))
      },
    )
  }
}

/**
 * The manifest of a package: the file `upack.json` at the root of a ZIP archive, as bytes. Everything else is only
 * looked at in the list of the archive's entries, which is read by ranges: neither memory nor time depends on the
 * archive's size.
 *
 * Throws a 400 that names the entry unless the archive means the same to every program and is safe to unpack for all of
 * them: one end, one directory that fits, entries that do not overlap, names that stay inside and cannot be mistaken
 * for each other, plain files, sizes that are possible. What lies in the other files is nobody's business here.
 */
export const readManifest = async (file: StoredBytes): Promise<Buffer> => {
  const directory = await readDirectory(file)
  const reader = new RangeReader(file)
  const zip = await understood(reader, () =>
    fromRandomAccessReaderPromise(reader, file.bytes, {
      autoClose: false,
      decodeStrings: false,
      validateEntrySizes: false,
    }),
  )
  const { entry, limit } = await understood(reader, () => goThrough(zip, directory))
  checkBounds(entry)
  const local = await understood(reader, () => zip.readLocalFileHeaderPromise(entry))
  checkLocal(local, entry, limit)
  return inflate(await file.read(local.fileDataStart, entry.compressedSize), entry)
}

/**
 * Calls the library. What it says of archives is an Error and nothing more; a Failure is ours, and all else is a bug.
 */
const understood = async <T>(reader: RangeReader, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (reader.fault !== null) throw reader.fault
    if (error instanceof RangeError) throw refuseArchive('it is truncated, or its offsets are wrong')
    if (error instanceof Error && error.constructor === Error) throw refuseArchive(error.message)
    throw error
  }
}

interface FoundManifest {
  readonly entry: Entry
  /** Where the next entry, or the directory, begins. */
  readonly limit: number
}

const goThrough = async (zip: ZipFile, directory: Directory): Promise<FoundManifest> => {
  const names = createNameSet()
  const checked: CheckedEntry[] = []
  let manifest: Entry | null = null
  let cursor = directory.offset
  const end = directory.offset + directory.bytes
  for await (const entry of zip.eachEntry()) {
    cursor += directoryHeaderBytes + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
    if (cursor > end) throw refuseArchive('its directory has more entries than fit into it')
    const one = checkEntry(entry)
    names.add(one.name)
    // The name is needed for an answer only, and the list may be long.
    checked.push(one)
    if (one.name === manifestName) manifest = entry
    if (checked.length % archiveEntriesAtOnce === 0) await others()
  }
  if (cursor !== end) throw refuseArchive('its directory has fewer entries than it has room for')
  const limit = checkNeighbours(checked, directory.offset, manifest?.relativeOffsetOfLocalHeader ?? 0)
  if (manifest === null)
    throw refuseArchive('there is no upack.json at its root (written exactly so, and in no folder)')
  return { entry: manifest, limit }
}

/**
 * Entries lie behind each other from the very beginning to the directory, with no more between them than their own
 * headers may have. Answers where the one at `start` has to end.
 */
const checkNeighbours = (entries: CheckedEntry[], directoryStart: number, start: number): number => {
  entries.sort((a, b) => a.start - b.start)
  let limit = directoryStart
  for (const [index, { name, start: at, end }] of entries.entries()) {
    if (index === 0 && at !== 0) throw refuseEntry(name, 'is the first, but there is data before it')
    const next = entries[index + 1]?.start ?? directoryStart
    if (end > next)
      throw refuseEntry(name, next === directoryStart ? 'reaches into the directory' : 'overlaps another entry')
    if (next - end > unlistedBytesMax)
      throw refuseEntry(name, `is followed by ${next - end} bytes that belong to no entry of the directory`)
    if (at === start) limit = next
  }
  return limit
}

const checkBounds = (entry: Entry): void => {
  if (entry.uncompressedSize > packageManifestBytesMax || entry.compressedSize > packageManifestBytesMax)
    throw refuseEntry(manifestName, `has more than ${packageManifestBytesMax} bytes`)
}

/** What stands before the manifest's data must say what the directory says. */
const checkLocal = (local: LocalFileHeader, entry: Entry, limit: number): void => {
  const differs =
    !local.fileName.equals(entry.fileNameRaw) ||
    local.compressionMethod !== entry.compressionMethod ||
    (local.generalPurposeBitFlag & repeatedFlags) !== (entry.generalPurposeBitFlag & repeatedFlags)
  const follow = (local.generalPurposeBitFlag & sizesFollow) !== 0
  const [large, small] = localSizes(local.extraField, local.uncompressedSize, local.compressedSize)
  // Where they follow the data each may be missing before it; Info-ZIP knows one of the two sizes, others none.
  const says = (said: number, meant: number): boolean =>
    said === meant || (follow && (said === 0 || said === elsewhere))
  const agrees =
    says(large, entry.uncompressedSize) && says(small, entry.compressedSize) && says(local.crc32, entry.crc32)
  if (differs || !agrees)
    throw refuseEntry(manifestName, 'is described differently in the directory and before its data')
  if (local.fileDataStart + entry.compressedSize > limit) throw refuseEntry(manifestName, 'overlaps another entry')
}

/** Uncompressed and compressed size; a field for large ones stands in where the header has no room. */
const localSizes = (extraField: Buffer, uncompressed: number, compressed: number): readonly [number, number] => {
  if (uncompressed !== elsewhere && compressed !== elsewhere) return [uncompressed, compressed]
  for (let at = 0; at + 4 <= extraField.byteLength; at += 4 + extraField.readUInt16LE(at + 2)) {
    const [length, end] = [extraField.readUInt16LE(at + 2), at + 4 + extraField.readUInt16LE(at + 2)]
    if (extraField.readUInt16LE(at) !== largeField || length < 16 || end > extraField.byteLength) continue
    return [Number(extraField.readBigUInt64LE(at + 4)), Number(extraField.readBigUInt64LE(at + 12))]
  }
  return [uncompressed, compressed]
}

interface Inflated {
  readonly buffer: Buffer
  /** Compressed bytes that were needed. */
  readonly read: number
}

/** In the thread pool. `info` brings the engine along, which knows how much it read; its form is not in the types. */
const inflateInPool = (bytes: Buffer): Promise<Inflated> =>
  new Promise((resolve, reject) => {
    inflateRaw(bytes, { maxOutputLength: packageManifestBytesMax, info: true }, (error, result: unknown) => {
      if (error === null) resolve(withEngine(result))
      else reject(error)
    })
  })

const withEngine = (result: unknown): Inflated => {
  if (typeof result === 'object' && result !== null && 'buffer' in result && 'engine' in result) {
    const { buffer, engine } = result
    if (Buffer.isBuffer(buffer) && typeof engine === 'object' && engine !== null && 'bytesWritten' in engine)
      return { buffer, read: Number(engine.bytesWritten) }
  }
  throw new Error('zlib answers in a form that is not known here')
}

const inflate = async (stored: Buffer, entry: Entry): Promise<Buffer> => {
  const bytes = entry.compressionMethod === 0 ? stored : await decompressed(stored)
  if (bytes.byteLength !== entry.uncompressedSize)
    throw refuseEntry(manifestName, `has ${bytes.byteLength} bytes, and says that it has ${entry.uncompressedSize}`)
  if (crc32(bytes) !== entry.crc32) throw refuseEntry(manifestName, 'is damaged: its checksum (CRC-32) is another one')
  return bytes
}

const decompressed = async (stored: Buffer): Promise<Buffer> => {
  const { buffer, read } = await inflateInPool(stored).catch((error: Error & { code?: string }) => {
    const tooLarge = error.code === 'ERR_BUFFER_TOO_LARGE'
    throw refuseEntry(
      manifestName,
      tooLarge ? `has more than ${packageManifestBytesMax} bytes` : 'cannot be decompressed',
    )
  })
  if (read !== stored.byteLength) throw refuseEntry(manifestName, 'has data behind its compressed bytes')
  return buffer
}
