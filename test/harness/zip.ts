import { crc32, deflateRawSync } from 'node:zlib'

/** What a header of an entry says. What is left out is the truth. */
interface Said {
  readonly name?: string | Uint8Array
  readonly flags?: number
  readonly method?: number
  readonly crc?: number
  readonly compressedSize?: number
  readonly size?: number
  readonly extra?: Uint8Array
}

export interface ZipEntry {
  readonly name: string | Uint8Array
  readonly content?: string | Uint8Array
  readonly deflate?: boolean
  /** In place of the compressed bytes. */
  readonly stored?: Uint8Array
  /** Lies in the list of entries. */
  readonly listed?: Said & {
    readonly madeBy?: number
    readonly attributes?: number
    readonly offset?: number
    readonly comment?: string
    readonly disk?: number
  }
  /** Lies in the header before the data. */
  readonly local?: Said & { readonly signature?: number }
  /** Says nothing of sizes before the data, but after it. */
  readonly follows?: boolean
  /** Where it is, if not both in the list and before its data. */
  readonly where?: 'local' | 'listed'
}

/** Lies in the end of the archive. */
export interface ZipEnd {
  readonly prefix?: Uint8Array
  readonly suffix?: Uint8Array
  readonly comment?: Uint8Array
  /** Between the entries and their list. */
  readonly gap?: Uint8Array
  /** Between the list and the end record. */
  readonly beforeEnd?: Uint8Array
  readonly entries?: number
  readonly entriesHere?: number
  readonly directoryBytes?: number
  readonly directoryOffset?: number
  readonly disk?: number
  /** Also a ZIP64 record, which is true unless it is told otherwise. */
  readonly large?: {
    readonly entries?: bigint
    readonly directoryBytes?: bigint
    readonly directoryOffset?: bigint
    readonly recordBytes?: bigint
    readonly at?: bigint
    readonly disks?: number
    readonly signature?: number
  }
  /** With `large`: the small record points at the large one in every field. */
  readonly saturated?: boolean
  readonly noEnd?: boolean
}

const bytesOf = (text: string | Uint8Array): Buffer => Buffer.from(text)
const u16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}
const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}

export const extraField = (id: number, data: Uint8Array): Buffer => Buffer.concat([u16(id), u16(data.byteLength), data])
export const wide = (...values: bigint[]): Buffer => Buffer.concat(values.map(u64))
export const unixMode = (mode: number): { madeBy: number; attributes: number } => ({
  madeBy: 0x031e,
  attributes: (mode << 16) >>> 0,
})

const asciiOnly = /^[\x20-\x7e]*$/

/** Writes a ZIP archive that says of itself whatever it is told to say. */
export const zip = (entries: readonly ZipEntry[], end: ZipEnd = {}): Buffer => {
  const prefix = bytesOf(end.prefix ?? '')
  const body: Buffer[] = [prefix]
  const list: Buffer[] = []
  let offset = prefix.byteLength
  let count = 0
  for (const entry of entries) {
    const { deflate = false, listed = {}, local = {}, where, follows = false } = entry
    const content = bytesOf(entry.content ?? '')
    const stored = bytesOf(entry.stored ?? (deflate ? deflateRawSync(content) : content))
    const name = bytesOf(entry.name)
    const utf8 = typeof entry.name === 'string' && !asciiOnly.test(entry.name) ? 0x800 : 0
    const truth = {
      name,
      flags: utf8 | (follows ? 0x8 : 0),
      method: deflate ? 8 : 0,
      crc: crc32(content),
      compressedSize: stored.byteLength,
      size: content.byteLength,
      extra: new Uint8Array(),
    }
    const before = { ...truth, ...(follows ? { crc: 0, compressedSize: 0, size: 0 } : {}), ...local }
    const inList = { ...truth, madeBy: 0x0014, attributes: 0, offset, comment: '', disk: 0, ...listed }
    if (where !== 'listed') {
      const header = Buffer.concat([
        u32(local.signature ?? 0x04034b50),
        u16(20),
        common(before),
        u16(bytesOf(before.name).byteLength),
        u16(before.extra.byteLength),
        bytesOf(before.name),
        before.extra,
      ])
      const after = follows
        ? Buffer.concat([u32(0x08074b50), u32(truth.crc), u32(truth.compressedSize), u32(truth.size)])
        : Buffer.alloc(0)
      body.push(header, stored, after)
      offset += header.byteLength + stored.byteLength + after.byteLength
    }
    if (where === 'local') continue
    count += 1
    list.push(
      Buffer.concat([
        u32(0x02014b50),
        u16(inList.madeBy),
        u16(20),
        common(inList),
        u16(bytesOf(inList.name).byteLength),
        u16(inList.extra.byteLength),
        u16(bytesOf(inList.comment).byteLength),
        u16(inList.disk),
        u16(0),
        u32(inList.attributes),
        u32(inList.offset),
        bytesOf(inList.name),
        inList.extra,
        bytesOf(inList.comment),
      ]),
    )
  }
  body.push(bytesOf(end.gap ?? ''))
  offset += end.gap?.byteLength ?? 0
  const directory = Buffer.concat(list)
  return Buffer.concat([...body, directory, ...endOf(end, { count, offset, bytes: directory.byteLength })])
}

/** The fields that both headers have in one order. */
const common = (said: Required<Pick<Said, 'flags' | 'method' | 'crc' | 'compressedSize' | 'size'>>): Buffer =>
  Buffer.concat([
    u16(said.flags),
    u16(said.method),
    u16(0),
    u16(0x21),
    u32(said.crc),
    u32(said.compressedSize),
    u32(said.size),
  ])

const endOf = (end: ZipEnd, truth: { count: number; offset: number; bytes: number }): Buffer[] => {
  const { large, saturated = false, comment = Buffer.alloc(0) } = end
  const pieces: Buffer[] = [bytesOf(end.beforeEnd ?? '')]
  const largeAt = truth.offset + truth.bytes + (end.beforeEnd?.byteLength ?? 0)
  if (large !== undefined) {
    const entries = large.entries ?? BigInt(truth.count)
    pieces.push(
      u32(large.signature ?? 0x06064b50),
      u64(large.recordBytes ?? 44n),
      u16(45),
      u16(45),
      u32(0),
      u32(0),
      u64(entries),
      u64(entries),
      u64(large.directoryBytes ?? BigInt(truth.bytes)),
      u64(large.directoryOffset ?? BigInt(truth.offset)),
      u32(0x07064b50),
      u32(0),
      u64(large.at ?? BigInt(largeAt)),
      u32(large.disks ?? 1),
    )
  }
  if (end.noEnd !== true)
    pieces.push(
      u32(0x06054b50),
      u16(end.disk ?? 0),
      u16(end.disk ?? 0),
      u16(end.entriesHere ?? end.entries ?? (saturated ? 0xffff : truth.count)),
      u16(end.entries ?? (saturated ? 0xffff : truth.count)),
      u32(end.directoryBytes ?? (saturated ? 0xffffffff : truth.bytes)),
      u32(end.directoryOffset ?? (saturated ? 0xffffffff : truth.offset)),
      u16(comment.byteLength),
      bytesOf(comment),
    )
  pieces.push(bytesOf(end.suffix ?? ''))
  return pieces
}

export interface TestManifest {
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly [field: string]: unknown
}

/** A plain package. */
export const upack = (
  manifest: TestManifest,
  more: readonly ZipEntry[] = [{ name: 'package/a.txt', content: 'a' }],
): Buffer => zip([{ name: 'upack.json', content: JSON.stringify(manifest), deflate: true }, ...more])
