import type { Entry } from 'yauzl'
import { deflateRatioMax } from '../../../kernel/limits/packages.ts'
import { decodeName, nameFault } from './archive-names.ts'
import { refuseEntry } from './archive-refusal.ts'

/** General purpose flags (APPNOTE, section 4.4.4). */
const flags = { encrypted: 0x1, patched: 0x20, strong: 0x40, utf8: 0x800, masked: 0x2000 } as const
const methods = { stored: 0, deflated: 8 } as const
const extra = { large: 0x0001, unicodePath: 0x7075 } as const
/** File types in the mode that Unix programs note (`S_IFMT`); 0 is what others leave there. */
const types = { mask: 0o170000, none: 0, file: 0o100000, folder: 0o040000 } as const
/** The Windows attribute of links and the like (`FILE_ATTRIBUTE_REPARSE_POINT`). */
const reparsePoint = 0x400
/** Bytes of a local header before its name. */
const localHeaderBytes = 30
/** The end of a deflated stream may take less than its ratio. */
const ratioSlackBytes = 64

/** What is left of an entry when it has been checked. */
export interface CheckedEntry {
  readonly name: string
  readonly start: number
  /** It takes at least the bytes up to here. */
  readonly end: number
}

/** Throws a 400 unless the directory says of this entry only what is safe and possible. */
export const checkEntry = (entry: Entry): CheckedEntry => {
  const has = (flag: number): boolean => (entry.generalPurposeBitFlag & flag) !== 0
  const name = decodeName(entry.fileNameRaw, has(flags.utf8))
  const refuse = (why: string) => refuseEntry(name, why)
  const fault = nameFault(name) ?? otherNameFault(entry, name)
  if (fault !== null) throw refuse(fault)
  if (has(flags.encrypted) || has(flags.strong) || has(flags.masked)) throw refuse('is encrypted')
  if (has(flags.patched)) throw refuse('is a patch of another file, which few programs can read')
  const { compressionMethod: method, compressedSize, uncompressedSize, relativeOffsetOfLocalHeader: start } = entry
  if (method !== methods.stored && method !== methods.deflated)
    throw refuse(`is compressed by method ${method}; only stored (0) and deflated (8) are read everywhere`)
  if (entry.extraFields.filter(({ id }) => id === extra.large).length > 1) throw refuse('has several ZIP64 fields')
  if (![compressedSize, uncompressedSize, start].every(Number.isSafeInteger))
    throw refuse('has an impossible size or place')
  if (method === methods.stored && compressedSize !== uncompressedSize)
    throw refuse('is stored as it is, but has two different sizes')
  if (uncompressedSize > compressedSize * deflateRatioMax + ratioSlackBytes)
    throw refuse(`says that ${compressedSize} bytes become ${uncompressedSize}, which is impossible`)
  const type = (entry.externalFileAttributes >>> 16) & types.mask
  if (
    (type !== types.none && type !== types.file && type !== types.folder) ||
    (entry.externalFileAttributes & reparsePoint) !== 0
  )
    throw refuse('is no plain file: symbolic links, devices and the like are not allowed')
  if (name.endsWith('/') && (uncompressedSize > 0 || type === types.file))
    throw refuse('is a folder and a file at once')
  if (!name.endsWith('/') && type === types.folder) throw refuse('is a folder and a file at once')
  return { name, start, end: start + localHeaderBytes + entry.fileNameRaw.byteLength + compressedSize }
}

/** A field may give an entry a second name, which some programs believe and others do not know. */
const otherNameFault = (entry: Entry, name: string): string | null => {
  for (const { id, data } of entry.extraFields) {
    if (id !== extra.unicodePath) continue
    const other = data.byteLength < 5 ? '' : decodeName(data.subarray(5), false)
    if (other !== name) return `has a second name, ${JSON.stringify(other.slice(0, 120))}`
  }
  return null
}
