import type { StoredBytes } from '../../../content/checks/stored-bytes.ts'
import { archiveDirectoryBytesMax, archiveEntriesMax } from '../../../kernel/limits/packages.ts'
import { refuseArchive } from './archive-refusal.ts'

/** Where the list of an archive's entries lies, and that it leads to the archive's very end. */
export interface Directory {
  readonly offset: number
  readonly bytes: number
  readonly entries: number
}

const endSignature = Buffer.from('PK\x05\x06', 'latin1')
const endBytes = 22
const locatorSignature = 0x07064b50
const locatorBytes = 20
const largeEndSignature = 0x06064b50
const largeEndBytes = 56
const commentBytesMax = 0xffff

/**
 * Reads the end of an archive, where it says what it consists of. Programs look for that end in different ways; here it
 * has to be in one place for all of them: the last record of its kind, which ends with the file, and no other that
 * would. The list of entries lies right before it, and where a 64-bit record says the same again, it says the same.
 */
export const readDirectory = async (file: StoredBytes): Promise<Directory> => {
  if (file.bytes < endBytes) throw refuseArchive('it is too short to be a ZIP archive')
  const tailBytes = Math.min(file.bytes, endBytes + commentBytesMax + locatorBytes)
  const tailStart = file.bytes - tailBytes
  const tail = await file.read(tailStart, tailBytes)
  const at = findEnd(tail)
  const small = readSmallEnd(tail.subarray(at))
  const large = await readLargeEnd(file, tail, tailStart, at)
  if (large !== null && !agrees(small, large))
    throw refuseArchive('its two end records (ZIP and ZIP64) contradict each other')
  if (large === null && saturated(small)) throw refuseArchive('its end record refers to a ZIP64 record that is missing')
  const { offset, bytes, entries } = large ?? small
  const end = large?.start ?? tailStart + at
  if (offset + bytes !== end)
    throw refuseArchive(
      offset + bytes > end
        ? 'its directory reaches beyond its place: it is truncated, or its offsets are wrong'
        : 'there is data between its directory and its end, or before its beginning: its offsets do not fit',
    )
  if (entries > archiveEntriesMax)
    throw refuseArchive(`it has ${entries} entries; at most ${archiveEntriesMax} are read`)
  if (bytes > archiveDirectoryBytesMax)
    throw refuseArchive(`its directory has ${bytes} bytes; at most ${archiveDirectoryBytesMax} are read`)
  if (entries === 0) throw refuseArchive('it is empty: there is no upack.json at its root')
  return { offset, bytes, entries }
}

const findEnd = (tail: Buffer): number => {
  const last = tail.lastIndexOf(endSignature)
  if (last === -1) throw refuseArchive('it is no ZIP archive, or it is truncated: it has no end record')
  if (!endsWithFile(tail, last))
    throw refuseArchive('its end record does not end with the file: data was added or cut off')
  for (let at = tail.indexOf(endSignature); at < last; at = tail.indexOf(endSignature, at + 1))
    if (endsWithFile(tail, at))
      throw refuseArchive('it has several end records, so that programs would read it differently')
  return last
}

const endsWithFile = (tail: Buffer, at: number): boolean =>
  at + endBytes <= tail.byteLength && at + endBytes + tail.readUInt16LE(at + 20) === tail.byteLength

interface EndRecord extends Directory {
  readonly entriesHere: number
}

const readSmallEnd = (record: Buffer): EndRecord => {
  const [disk, first] = [record.readUInt16LE(4), record.readUInt16LE(6)]
  if ((disk !== 0 && disk !== 0xffff) || (first !== 0 && first !== 0xffff))
    throw refuseArchive('it is split over several files')
  const [entriesHere, entries] = [record.readUInt16LE(8), record.readUInt16LE(10)]
  if (entriesHere !== entries) throw refuseArchive('its end record counts its entries in two different ways')
  return { entriesHere, entries, bytes: record.readUInt32LE(12), offset: record.readUInt32LE(16) }
}

/** The 64-bit record that a locator before the end record leads to, or null where there is no locator. */
const readLargeEnd = async (
  file: StoredBytes,
  tail: Buffer,
  tailStart: number,
  at: number,
): Promise<(Directory & { readonly start: number }) | null> => {
  const locatorAt = at - locatorBytes
  if (locatorAt < 0 || tail.readUInt32LE(locatorAt) !== locatorSignature) return null
  const start = wide(tail, locatorAt + 8)
  if (tail.readUInt32LE(locatorAt + 4) !== 0 || tail.readUInt32LE(locatorAt + 16) > 1)
    throw refuseArchive('it is split over several files')
  const end = tailStart + locatorAt
  if (start + largeEndBytes > end) throw refuseArchive('its ZIP64 locator leads nowhere')
  const record = await file.read(start, largeEndBytes)
  if (record.readUInt32LE(0) !== largeEndSignature) throw refuseArchive('its ZIP64 locator leads to something else')
  if (start + 12 + wide(record, 4) !== end) throw refuseArchive('its ZIP64 end record has the wrong length')
  if (record.readUInt32LE(16) !== 0 || record.readUInt32LE(20) !== 0)
    throw refuseArchive('it is split over several files')
  const entries = wide(record, 32)
  if (wide(record, 24) !== entries) throw refuseArchive('its end record counts its entries in two different ways')
  return { start, entries, bytes: wide(record, 40), offset: wide(record, 48) }
}

const wide = (buffer: Buffer, at: number): number => {
  const value = buffer.readBigUInt64LE(at)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw refuseArchive('its ZIP64 end record names an impossible place')
  return Number(value)
}

/** A small record says what the large one says, or that it cannot. */
const agrees = (small: EndRecord, large: Directory): boolean =>
  [
    [small.entries, large.entries, 0xffff],
    [small.bytes, large.bytes, 0xffffffff],
    [small.offset, large.offset, 0xffffffff],
  ].every(([said = 0, meant, full]) => said === meant || said === full)

const saturated = ({ entries, bytes, offset }: EndRecord): boolean =>
  entries === 0xffff || bytes === 0xffffffff || offset === 0xffffffff
