import { getFileNameLowLevel } from 'yauzl'
import { archiveFoldersMax, archiveNameBytesMax } from '../../../kernel/limits/packages.ts'
import { caseless, isPrintable } from '../../../kernel/names.ts'
import { refuseArchive, refuseEntry } from './archive-refusal.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const drive = /^[A-Za-z]:/
/** Windows drops dots and blanks at the end of a name, so that `.. ` is `..` there. */
const onlyDots = /^[. ]+$/

/**
 * A name as the archive says it. Marked as UTF-8 it has to be; unmarked it often is nevertheless, and otherwise it is
 * in an older code page, in which the characters that matter here are ASCII as well.
 */
export const decodeName = (raw: Uint8Array, markedUtf8: boolean): string => {
  if (raw.byteLength > archiveNameBytesMax)
    throw refuseArchive(
      `it has an entry whose name has ${raw.byteLength} bytes; at most ${archiveNameBytesMax} are allowed`,
    )
  try {
    return strict.decode(raw)
  } catch {
    const name = Array.from(raw, inOldCodePage).join('')
    if (markedUtf8) throw refuseEntry(name, 'has a name that is not the UTF-8 that it says it is')
    return name
  }
}

/**
 * Code page 437, but for its smiling faces: below 128 bytes are taken as ASCII, control characters as what they are.
 */
const inOldCodePage = (byte: number): string =>
  byte < 0x80 ? String.fromCharCode(byte) : getFileNameLowLevel(0, Buffer.of(byte), [], true)

/** Why nobody should unpack a file of this name, or null. A directory's name ends in a slash. */
export const nameFault = (name: string): string | null => {
  if (name === '') return 'has no name'
  if (name.includes('\\')) return 'has a backslash in its name; use / between folders'
  if (!isPrintable(name)) return 'has a control character in its name'
  if (name.startsWith('/')) return 'has an absolute path'
  if (drive.test(name)) return 'has a path that begins with a drive letter'
  const segments = (name.endsWith('/') ? name.slice(0, -1) : name).split('/')
  if (segments.includes('')) return 'has an empty segment in its path'
  if (segments.includes('..')) return 'leads out of the folder that it is unpacked to (..)'
  if (segments.some((segment) => onlyDots.test(segment)))
    return 'has a segment of nothing but dots and blanks in its path'
  return null
}

/** Finds names that cannot stand beside each other in one folder. */
export interface NameSet {
  /** Throws a 400 for a name that is there already, or that is a file here and a folder there. */
  add(name: string): void
}

export const createNameSet = (): NameSet => {
  const files = new Set<string>()
  const listed = new Set<string>()
  const folders = new Set<string>()
  return {
    add(name) {
      const isFolder = name.endsWith('/')
      const key = caseless(isFolder ? name.slice(0, -1) : name)
      if (files.has(key) || (isFolder && listed.has(key)))
        throw refuseEntry(name, 'is there twice (names are compared without case and without forms of accents)')
      if (isFolder) {
        listed.add(key)
        folders.add(key)
      } else {
        if (folders.has(key)) throw refuseEntry(name, 'is a file and a folder at once')
        files.add(key)
      }
      for (let slash = key.lastIndexOf('/'); slash !== -1; slash = key.lastIndexOf('/', slash - 1)) {
        const parent = key.slice(0, slash)
        if (files.has(parent)) throw refuseEntry(name, 'lies in a folder that is a file')
        // What is above a known folder was seen when that one was noted.
        if (folders.has(parent)) break
        folders.add(parent)
        if (folders.size > archiveFoldersMax)
          throw refuseArchive(`its names speak of more than ${archiveFoldersMax} folders`)
      }
    },
  }
}
