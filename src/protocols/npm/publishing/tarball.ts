import { once } from 'node:events'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, gunzipSync } from 'node:zlib'
import { type Extract, extract, type Header } from 'tar-stream'
import { Failure } from '../../../kernel/failure.ts'
import {
  npmFilesMax,
  npmInnerManifestMaxBytes,
  npmSmallTarballBytes,
  npmUnpackedAtOnceBytes,
  npmUnpackedFreeBytes,
  npmUnpackedMaxBytes,
  npmUnpackedRatioMax,
} from '../../../kernel/limits/npm.ts'
import { KiB, MiB } from '../../../kernel/units.ts'
import type { Fields } from '../fields.ts'
import { badPackage } from '../refusals.ts'
import { jsonObject } from './document.ts'

/** What was seen in a tarball. */
export interface Unpacked {
  readonly files: number
  readonly bytes: number
  /** The package.json of the package. */
  readonly manifest: Fields
  readonly hasShrinkwrap: boolean
  /** Clients that install it build it, unless it says otherwise. */
  readonly isBuilt: boolean
}

/** Looks into a tarball while it comes, once, and keeps nothing of it. */
export interface TarballLook {
  /** Resolves when the next piece may come. 400 once it is known to be no tarball of a package. */
  write(piece: Uint8Array): Promise<void>
  /** What was in it. 400 as above. */
  end(): Promise<Unpacked>
  /** Nobody waits for it any more. */
  drop(): void
}

/** Archives of the oldest format do not say which one it is. Clients unpack them, and upstreams have some. */
const oldOnesToo = { allowUnknownFormat: true, highWaterMark: 16 * KiB }

/**
 * What is small is gathered and unpacked in one go, when all of it is here: the turns that streams take between threads
 * cost more. Everything else is unpacked while it comes.
 */
export const lookIntoTarball = (): TarballLook => {
  let gathered: Buffer[] = []
  let bytes = 0
  let stream: TarballLook | null = null
  const goOn = async (): Promise<TarballLook> => {
    const begun = lookIntoStream()
    stream = begun
    for (const piece of gathered.splice(0)) await begun.write(piece)
    return begun
  }
  return {
    async write(piece) {
      if (stream !== null) return await stream.write(piece)
      // The piece is the reader's again when this resolves.
      gathered.push(Buffer.from(piece))
      bytes += piece.byteLength
      if (bytes > npmSmallTarballBytes) await goOn()
    },
    async end() {
      if (stream !== null) return await stream.end()
      const whole = Buffer.concat(gathered)
      const unpacked = unpackedAtOnce(whole)
      return unpacked === null ? await (await goOn()).end() : await lookInto(unpacked)
    },
    drop() {
      gathered = []
      stream?.drop()
    },
  }
}

/** Null where it is not small, or not in order: to say what is wrong with it is for whoever takes it apart. */
const unpackedAtOnce = (whole: Buffer): Buffer | null => {
  // A gzip ends with how much was packed, as it says itself.
  const said = whole.byteLength < 4 ? 0 : whole.readUInt32LE(whole.byteLength - 4)
  if (said > npmUnpackedAtOnceBytes) return null
  try {
    return gunzipSync(whole, { chunkSize: Math.max(said, KiB), maxOutputLength: npmUnpackedAtOnceBytes })
  } catch {
    return null
  }
}

const lookInto = async (unpacked: Buffer): Promise<Unpacked> => {
  const entries = new Entries()
  const tar = extract(oldOnesToo)
  tar.end(unpacked)
  const refusal = refusalAmong(await Promise.allSettled([walk(tar, entries)]))
  if (refusal !== null) throw refusal
  return entries.summary()
}

const walk = async (tar: Extract, entries: Entries): Promise<void> => {
  for await (const entry of tar) await entries.take(entry.header, entry)
}

const lookIntoStream = (): TarballLook => {
  const gunzip = createGunzip({ chunkSize: 64 * KiB })
  const entries = new Entries()
  let compressed = 0
  let unpacked = 0
  const bounded = new Transform({
    transform(piece: Buffer, _encoding, done) {
      unpacked += piece.byteLength
      const allowed = Math.max(npmUnpackedFreeBytes, compressed * npmUnpackedRatioMax)
      if (unpacked > npmUnpackedMaxBytes || unpacked > allowed)
        done(badPackage('The tarball unpacks to far more than a package has: it is not taken.'))
      else done(null, piece)
    },
  })
  const tar = extract(oldOnesToo)
  const over = Promise.allSettled([walk(tar, entries), pipeline(gunzip, bounded, tar)]).then((ways) =>
    refusalAmong(ways),
  )
  let failed: Failure | null = null
  void over.then((refusal) => {
    failed = refusal
  })
  return {
    async write(piece) {
      compressed += piece.byteLength
      if (failed !== null) throw failed
      // The piece is the reader's again when this resolves, and zlib takes it later.
      if (gunzip.write(Buffer.from(piece))) return
      // What is wrong with it is told by the end of all ways, and not by the first stream that fails.
      const drained = once(gunzip, 'drain').then(
        () => null,
        () => over,
      )
      const refusal = await Promise.race([drained, over])
      if (refusal !== null) throw refusal
    },
    async end() {
      gunzip.end()
      const refusal = await over
      if (refusal !== null) throw refusal
      return entries.summary()
    },
    drop() {
      gunzip.destroy()
    },
  }
}

/** What went wrong first is what was refused on purpose; other errors follow from it. */
const refusalAmong = (ways: readonly PromiseSettledResult<void>[]): Failure | null => {
  const errors = ways.flatMap((way) => (way.status === 'rejected' ? [way.reason as unknown] : []))
  if (errors.length === 0) return null
  const refusal = errors.find((error) => error instanceof Failure)
  if (refusal instanceof Failure) return refusal
  const [cause] = errors
  const what = cause instanceof Error ? cause.message : 'it cannot be read'
  return badPackage(`The tarball is no gzipped tar archive (${what}). Pack it with npm pack.`, { cause })
}

/** The entries of the archive, one after another. */
class Entries {
  #files = 0
  #bytes = 0
  #manifest: Buffer | null = null
  #hasShrinkwrap = false
  #isBuilt = false

  async take(header: Header, stream: AsyncIterable<unknown>): Promise<void> {
    refuseEscape(header)
    const type = header.type ?? 'file'
    if (type === 'file' || type === 'contiguous-file') {
      this.#files += 1
      this.#bytes += header.size ?? 0
      if (this.#files > npmFilesMax) throw badPackage(`A package has at most ${npmFilesMax} files.`)
      const below = belowRoot(header.name).toLowerCase()
      if (below === 'npm-shrinkwrap.json') this.#hasShrinkwrap = true
      if (below === 'binding.gyp') this.#isBuilt = true
      if (below === 'package.json') {
        this.#manifest = await this.#manifestIn(header, stream)
        return
      }
    } else if (type !== 'directory' && type !== 'symlink' && type !== 'link')
      throw badPackage(`${JSON.stringify(header.name)} in the tarball is a ${type}: a package has files.`)
    for await (const _ of stream);
  }

  async #manifestIn(header: Header, stream: AsyncIterable<unknown>): Promise<Buffer> {
    if (this.#manifest !== null) throw badPackage('The tarball has more than one package.json in its folder.')
    if ((header.size ?? 0) > npmInnerManifestMaxBytes)
      throw badPackage(`The package.json in the tarball has more than ${npmInnerManifestMaxBytes / MiB} MiB.`)
    const pieces: Buffer[] = []
    for await (const piece of stream) if (piece instanceof Uint8Array) pieces.push(Buffer.from(piece))
    return Buffer.concat(pieces)
  }

  summary(): Unpacked {
    if (this.#manifest === null) throw badPackage('The tarball has no package.json. Pack it with npm pack.')
    const text = this.#manifest
    const withoutMark = text.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? text.subarray(3) : text
    return {
      files: this.#files,
      bytes: this.#bytes,
      manifest: jsonObject(withoutMark, 'The package.json in the tarball'),
      hasShrinkwrap: this.#hasShrinkwrap,
      isBuilt: this.#isBuilt,
    }
  }
}

/** What is left of a name without its first folder, which clients take away. */
const belowRoot = (name: string): string => {
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  return segments.slice(1).join('/')
}

/** 400 for a name, or a link, that leads out of the folder into which a client unpacks. */
const refuseEscape = ({ name, type, linkname }: Header): void => {
  const folder = name.split('/').slice(0, -1).join('/')
  const target = type === 'symlink' ? `${folder}/${linkname ?? ''}`.replace(/^\//, '') : (linkname ?? '')
  const isLink = type === 'symlink' || type === 'link'
  if (leadsOut(name) || (isLink && (isAbsolute(linkname ?? '') || leadsOut(target))))
    throw badPackage(`${JSON.stringify(name.slice(0, 200))} in the tarball leads out of the package: it is not taken.`)
}

const isAbsolute = (path: string): boolean => /^(?:[a-z]:|[/\\])/iu.test(path)
const leadsOut = (path: string): boolean => isAbsolute(path) || /[\\\0]/u.test(path) || depthOf(path) < 0

/** How far below its beginning a path ends, and below zero once it leads above it. */
const depthOf = (path: string): number => {
  let depth = 0
  for (const segment of path.split('/')) {
    if (segment === '..') depth -= 1
    else if (segment !== '' && segment !== '.') depth += 1
    if (depth < 0) return depth
  }
  return depth
}
