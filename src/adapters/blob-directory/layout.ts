import { type BlobName, toBlobName } from '../../ports/blob-name.ts'

/*
 *   <root>/                      blobs: complete, verified, durable (I3)
 *     00/ … ff/                  shards, all 256 made at open, so that publishing never makes a directory
 *       <sha256>-<generation>    one blob, or `<sha256>` if it is from before there were generations; the first
 *                                two digits name the shard
 *     owner                      what the store belongs to, in one line
 *   <staging>/                   on the same device, since publishing is a rename
 *     <id>                       a blob being written, or what a crash left of one
 *     <id>.<number>              a later file of an assembly, from 2 on: see numbered-files.ts
 *     <id>.<writer>              another name of it, of whoever writes a part; or what became of that after a crash
 *
 * Every path below is made of a blob's name or an id that passed its grammar here: none is joined from raw input.
 */

/**
 * Lower-case, so that no file system folds two ids into one; no dot and no slash, so that none leaves its directory.
 */
const stagedId = /^[0-9a-z](?:[0-9a-z-]{0,62}[0-9a-z])?$/

/** See writer-names.ts. */
const writer = /^[0-9a-z]{1,32}(?:[.-][0-9a-z]{1,32}){1,8}$/

const laterNumber = /^(?:[2-9]|[1-9]\d{1,8})$/

const isStagedId = (text: string): boolean => stagedId.test(text)

/** `00` … `ff` */
export const shardNames: readonly string[] = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'))

export interface Layout {
  readonly root: string
  readonly staging: string
  /** These throw a RangeError for what is no name or no id, whatever the types said. */
  shard(name: BlobName): string
  blob(name: BlobName): string
  /** Below the root. */
  blobBelow(name: BlobName): string
  readonly owner: string
  staged(id: string): string
  /** The first is the staged file itself. */
  numbered(id: string, number: number): string
  writer(id: string, name: string): string
  /** The id that a file in staging belongs to; null where it is none of ours. */
  idOf(file: string): string | null
  /** Which of the numbered files of its id it is; null where it is none. */
  numberOf(file: string): number | null
}

const pieces = (file: string): { readonly id: string; readonly rest: string | null } => {
  const end = file.indexOf('.')
  return end === -1 ? { id: file, rest: null } : { id: file.slice(0, end), rest: file.slice(end + 1) }
}

const shardOf = (name: BlobName): string => toBlobName(name).slice(0, 2)

const blobBelow = (name: BlobName): string => `${shardOf(name)}/${name}`

/** Both directories as absolute paths. */
export const layoutOf = (root: string, staging: string): Layout => {
  const staged = (id: string): string => {
    if (!isStagedId(id)) throw new RangeError(`not an id of a staged blob: ${JSON.stringify(id.slice(0, 80))}`)
    return `${staging}/${id}`
  }
  return {
    root,
    staging,
    owner: `${root}/owner`,
    shard: (name) => `${root}/${shardOf(name)}`,
    blob: (name) => `${root}/${blobBelow(name)}`,
    blobBelow,
    staged,
    numbered: (id, number) => {
      if (number === 1) return staged(id)
      if (!laterNumber.test(String(number))) throw new RangeError(`not the number of a staged file: ${number}`)
      return `${staged(id)}.${number}`
    },
    writer: (id, name) => {
      if (!writer.test(name)) throw new RangeError('not the name of a writer')
      return `${staged(id)}.${name}`
    },
    idOf: (file) => {
      const { id, rest } = pieces(file)
      return isStagedId(id) && (rest === null || laterNumber.test(rest) || writer.test(rest)) ? id : null
    },
    numberOf: (file) => {
      const { id, rest } = pieces(file)
      if (!isStagedId(id)) return null
      if (rest === null) return 1
      return laterNumber.test(rest) ? Number(rest) : null
    },
  }
}
