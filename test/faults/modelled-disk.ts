import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { KeptFiles } from './kept-files.ts'
import type { Change } from './recorder.ts'

/*
 * A disk that holds what is promised about it and nothing more, made from a record of what a program did (recorder.ts):
 *
 * - A sync of a file makes durable what was written to it before the sync *began*, and its length, once it has *ended*.
 *   Of what was written since, each sector of 512 bytes may have arrived or not: any state that it had since, each by
 *   itself; and any length that the file had since.
 * - After a sync that failed, what it should have covered is lost to later syncs (the kernel may have marked it clean):
 *   it may have arrived, and no sync promises it any more until it is written again. That promises the length, too, as
 *   far as it is needed to read what was written (fdatasync(2)).
 * - A sync of a folder makes its names durable. Of names made, moved and removed since, those of one folder arrive in
 *   their order up to any point, each folder by itself. A move from one folder to another is durable with the one it
 *   went to.
 * - Memory that processes share (`-shm`) is no part of a disk.
 *
 * What the system's memory holds survives the end of a process: a record may go over several lives of a program.
 */
const sector = 512

/** What a sector was at some time: its bytes, and whether a failed sync has given it up. */
interface Version {
  readonly order: number
  readonly bytes: Buffer
  lost: boolean
}

class ModelledFile {
  #written: Buffer = Buffer.alloc(0)
  #length = 0
  #durable: Buffer = Buffer.alloc(0)
  #durableLength = 0
  #settled: Buffer | null = null
  readonly #versions = new Map<number, Version[]>()
  readonly #lengths: { readonly order: number; readonly length: number; lost: boolean }[] = []

  write(order: number, at: number, bytes: Buffer): void {
    const end = at + bytes.length
    if (end > this.#written.length) this.#written = grown(this.#written, end)
    bytes.copy(this.#written, at)
    for (let index = Math.floor(at / sector); index * sector < end; index++) this.#remember(order, index)
    this.#length = Math.max(this.#length, end)
    if (end > this.#promisedLength) this.#lengths.push({ order, length: end, lost: false })
  }

  /** Which the next sync makes durable, if it succeeds. */
  get #promisedLength(): number {
    return this.#lengths.findLast(({ lost }) => !lost)?.length ?? this.#durableLength
  }

  resize(order: number, length: number): void {
    // What lies behind the new end reads as nothing when the file grows again.
    if (length < this.#length) {
      this.#written.fill(0, length, this.#length)
      for (let index = Math.floor(length / sector); index * sector < this.#length; index++) this.#remember(order, index)
    }
    this.#length = length
    this.#lengths.push({ order, length, lost: false })
  }

  /** What was written before `order` is on the disk. */
  synced(order: number): void {
    this.#settled = null
    for (const [index, versions] of this.#versions) {
      const last = versions.findLastIndex((version) => version.order < order && !version.lost)
      const version = versions[last]
      if (version === undefined) continue
      const end = (index + 1) * sector
      if (end > this.#durable.length) this.#durable = grown(this.#durable, end)
      version.bytes.copy(this.#durable, index * sector)
      versions.splice(0, last + 1)
      if (versions.length === 0) this.#versions.delete(index)
    }
    const last = this.#lengths.findLastIndex((change) => change.order < order && !change.lost)
    const change = this.#lengths[last]
    if (change === undefined) return
    this.#durableLength = change.length
    this.#lengths.splice(0, last + 1)
  }

  /** What was written before `order` is not promised by any later sync. */
  lost(order: number): void {
    for (const versions of this.#versions.values())
      for (const version of versions) if (version.order < order) version.lost = true
    for (const change of this.#lengths) if (change.order < order) change.lost = true
  }

  /** All of it, if nothing of it is in doubt. The same buffer until that changes. */
  get settled(): Buffer | null {
    if (this.#versions.size > 0 || this.#lengths.length > 0) return null
    this.#settled ??= this.#durable.subarray(0, this.#durableLength)
    return this.#settled
  }

  /** Writes what may be found after a cut. */
  cut(random: () => number, path: string): void {
    const way = random()
    const chosen = <T>(states: readonly T[]): T | undefined => {
      if (way < 0.3) return states.at(-1)
      if (way < 0.5) return undefined
      const index = Math.floor(random() * (states.length + 1))
      return states[index]
    }
    const length = chosen(this.#lengths)?.length ?? this.#durableLength
    const file = openSync(path, 'w', 0o600)
    try {
      writeSync(file, this.settled ?? this.#found(length, chosen))
      ftruncateSync(file, length)
    } finally {
      closeSync(file)
    }
  }

  #found(length: number, chosen: (versions: readonly Version[]) => Version | undefined): Buffer {
    const found = Buffer.alloc(length)
    this.#durable.copy(found, 0, 0, length)
    for (const [index, versions] of this.#versions)
      if (index * sector < length) chosen(versions)?.bytes.copy(found, index * sector)
    return found
  }

  #remember(order: number, index: number): void {
    const bytes = Buffer.alloc(sector)
    this.#written.copy(bytes, 0, index * sector, (index + 1) * sector)
    const versions = this.#versions.get(index)
    if (versions === undefined) this.#versions.set(index, [{ order, bytes, lost: false }])
    else versions.push({ order, bytes, lost: false })
  }
}

const grown = (buffer: Buffer, length: number): Buffer =>
  Buffer.concat([buffer, Buffer.alloc(Math.max(length, 2 * buffer.length) - buffer.length)])

/** Whole files that have the name of a blob: nobody writes into them any more. */
const isBlob = /\/blobs\/..\/[0-9a-f]{64}[^/]*$/
/** Shorter ones are written as quickly as they are linked. */
const keptBytesMin = 65_536

/** Bytes of long blobs that are as durable as they are complete, by their digest. */
export type KnownBlobs = ReadonlyMap<string, Buffer>

/**
 * What becomes of a file or of the names in a folder, asked with its path first for the way: below 0.3 everything that
 * is in doubt arrives, below 0.5 nothing of it, else some; and then for each piece how much of it.
 */
export type Chance = (path: string) => number

/** What a name stands for. */
type Entry = ModelledFile | 'folder'
type Names = Map<string, Entry>

/** A change of names that is not durable yet. `folder` is the one whose sync makes it so. */
interface Renaming {
  readonly order: number
  readonly folder: string
  readonly names: readonly string[]
  apply(names: Names): void
}

export class ModelledDisk {
  readonly #root: string
  readonly #files = new Map<bigint, ModelledFile>()
  readonly #folders = new Map<bigint, string>()
  readonly #written: Names = new Map()
  readonly #durable: Names = new Map()
  #pending: Renaming[] = []
  readonly #syncing = new Map<string, number>()
  readonly #kept: KeptFiles
  #order = 0

  /**
   * Of the folder `root`, which is empty and durable when the record begins. Long files of which nothing is in doubt,
   * and that are never written again, are kept in the folder `keptIn`.
   */
  constructor(root: string, inode: bigint, keptIn: string) {
    this.#root = root
    this.#folders.set(inode, root)
    this.#kept = new KeptFiles(keptIn)
  }

  /** The next change of the record. */
  play(change: Change): void {
    const order = ++this.#order
    if (change.kind === 'unknown') throw new Error(`the model does not know ${change.what}`)
    if (change.kind === 'written') this.#fileOf(change.inode).write(order, change.at, change.bytes)
    else if (change.kind === 'resized') this.#fileOf(change.inode).resize(order, change.length)
    else if (change.kind === 'syncing') this.#syncing.set(`${change.process} ${change.thread}`, order)
    else if (change.kind === 'synced')
      this.#synced(change.inode, this.#syncing.get(`${change.process} ${change.thread}`) ?? 0, change.failed)
    else if ('path' in change) this.#changeOfNames(order, change)
  }

  #changeOfNames(order: number, change: Extract<Change, { path: string }>): void {
    const { kind, path, inode } = change
    if (kind === 'renamed') this.#rename(order, path, change.to)
    else if (kind === 'linked') this.#name(order, change.to, this.#fileOf(inode))
    else if (kind === 'unlinked')
      this.#change({ order, folder: dirname(path), names: [path], apply: (names) => void names.delete(path) })
    else if (kind === 'named') {
      const file = new ModelledFile()
      this.#files.set(inode, file)
      this.#name(order, path, file)
    } else {
      this.#folders.set(inode, path)
      this.#name(order, path, 'folder')
    }
  }

  /**
   * Makes a folder of what may be found after a cut of the power at this moment. Answers which blobs are known byte by
   * byte.
   */
  cut(chance: Chance, into: string): KnownBlobs {
    const names: Names = new Map(this.#durable)
    const ends = new Map<string, number>()
    for (const { folder } of this.#pending) ends.set(folder, (ends.get(folder) ?? 0) + 1)
    for (const [folder, count] of ends) {
      const way = chance(folder)
      ends.set(folder, way < 0.3 ? count : way < 0.5 ? 0 : Math.floor(chance(folder) * (count + 1)))
    }
    for (const change of this.#pending) {
      const left = ends.get(change.folder) ?? 0
      if (left > 0) change.apply(names)
      ends.set(change.folder, left - 1)
    }
    const paths = [...names.keys()].sort()
    mkdirSync(into, { recursive: true })
    const there = new Set([this.#root])
    const known = new Map<string, Buffer>()
    for (const path of paths) {
      // What lies in a folder whose own name is lost is lost with it.
      const entry = names.get(path)
      if (entry === undefined || !there.has(dirname(path)) || path.endsWith('-shm')) continue
      const place = join(into, path.slice(this.#root.length))
      if (entry === 'folder') {
        mkdirSync(place, { mode: 0o700 })
        there.add(path)
      } else {
        const blob = isBlob.test(path) ? entry.settled : null
        if (blob === null || blob.length < keptBytesMin) entry.cut(() => chance(path), place)
        else known.set(this.#kept.link(blob, place), blob)
      }
    }
    return known
  }

  #fileOf(inode: bigint): ModelledFile {
    const file = this.#files.get(inode)
    if (file === undefined) throw new Error(`the record does not say where the file ${inode} comes from`)
    return file
  }

  #name(order: number, path: string, entry: Entry): void {
    this.#change({ order, folder: dirname(path), names: [path], apply: (names) => void names.set(path, entry) })
  }

  #rename(order: number, from: string, to: string): void {
    const entry = this.#written.get(from)
    if (entry === undefined) throw new Error(`the record does not say where ${from} comes from`)
    const apply = (names: Names): void => {
      names.delete(from)
      names.set(to, entry)
    }
    this.#change({ order, folder: dirname(to), names: [from, to], apply })
  }

  #change(change: Renaming): void {
    change.apply(this.#written)
    this.#pending.push(change)
  }

  #synced(inode: bigint, order: number, failed: boolean): void {
    const folder = this.#folders.get(inode)
    if (folder === undefined) {
      const file = this.#fileOf(inode)
      if (failed) file.lost(order)
      else file.synced(order)
      return
    }
    // A file system whose folders cannot be written stops altogether: nothing comes after that.
    if (failed) return
    const durable = this.#pending.filter((change) => change.folder === folder && change.order < order)
    for (const change of durable) change.apply(this.#durable)
    const last = new Map(durable.flatMap(({ names, order: of }) => names.map((name) => [name, of] as const)))
    // What was done to a name before that cannot come after it.
    this.#pending = this.#pending.filter(
      (change) => !durable.includes(change) && !change.names.some((name) => change.order < (last.get(name) ?? 0)),
    )
  }
}
