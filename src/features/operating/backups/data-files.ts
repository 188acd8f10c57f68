import { createHash, subtle } from 'node:crypto'
import { type Sha256, toSha256 } from '../../../kernel/digest.ts'
import { release } from '../../../kernel/piece-memory.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { BackupLocked, type Coding, compressed, decompressed, decompressedWhole, type Readers } from './coding.ts'
import { formOf } from './layout.ts'

/** A vault, and how its data is to be read and written. */
export interface Room {
  readonly vault: BackupVault
  readonly coding: Coding
}

/** Data as it lies in a vault: what is compressed and encrypted is counted and hashed so. */
export interface Stored {
  readonly name: VaultName
  readonly bytes: number
  readonly sha256: Sha256
}

/** Something in a vault is not what the manifest says. */
export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged'
  readonly code: 'missing' | 'damaged'
  readonly file: VaultName
  constructor(code: 'missing' | 'damaged', file: VaultName, why: string) {
    super(`${file} of the vault is ${code === 'missing' ? 'missing' : `damaged: ${why}`}`)
    this.code = code
    this.file = file
  }
}

/** Hashes and counts what passes. */
class Meter {
  bytes = 0
  readonly #hash = createHash('sha256')
  async *of(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      this.bytes += piece.byteLength
      this.#hash.update(piece)
      yield piece
    }
  }
  sha256(): Sha256 {
    return toSha256(this.#hash.digest('hex'))
  }
}

/** Writes data in the form that its name says; null where the name is taken. A piece is valid until the next one. */
export const writeData = (
  room: Room,
  name: VaultName,
  bytes: number,
  readers: Readers,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Stored | null> =>
  writeSmaller(room, name, bytes, readers, formOf(name).compressed ? compressed(pieces) : pieces)

/** The same of pieces that are compressed already where the name says so. */
const writeSmaller = async (
  { vault, coding }: Room,
  name: VaultName,
  bytes: number,
  readers: Readers,
  smaller: AsyncIterable<Uint8Array>,
): Promise<Stored | null> => {
  const form = formOf(name)
  const meter = new Meter()
  const stored = meter.of(form.encrypted ? coding.encrypt(smaller, readers) : smaller)
  const written = await vault.write(name, bytes, async (take) => {
    for await (const piece of stored) await take(piece)
  })
  return written ? { name, bytes: meter.bytes, sha256: meter.sha256() } : null
}

/** The same of what is in memory, whole. */
export const writeWhole = async (
  room: Room,
  name: VaultName,
  readers: Readers,
  smaller: NonSharedBuffer,
): Promise<Stored | null> => {
  const bytes = smaller.byteLength
  if (formOf(name).encrypted) return await writeSmaller(room, name, bytes, readers, once(smaller))
  const [sha256, written] = await Promise.all([
    sha256Beside(smaller),
    room.vault.write(name, bytes, (take) => take(smaller)),
  ])
  return written ? { name, bytes, sha256 } : null
}

/** Hashed by a thread of the pool. */
export const sha256Beside = async (bytes: NonSharedBuffer): Promise<Sha256> =>
  toSha256(Buffer.from(await subtle.digest('SHA-256', bytes)).toString('hex'))

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece
}

/** The plain bytes of data, and at their end {@link BackupDamaged} unless it lay there as it was written. */
export async function* readData(room: Room, stored: Stored): AsyncGenerator<Uint8Array> {
  const form = formOf(stored.name)
  const meter = new Meter()
  const lying = meter.of(lyingPieces(room, stored))
  const clear = form.encrypted ? room.coding.decrypt(lying) : lying
  try {
    yield* form.compressed ? decompressed(clear) : clear
  } catch (error) {
    if (error instanceof VaultFailure || error instanceof BackupLocked || error instanceof BackupDamaged) throw error
    throw new BackupDamaged('damaged', stored.name, error instanceof Error ? error.message : String(error))
  }
  mustBe(stored, { bytes: meter.bytes, sha256: meter.sha256() })
}

/** Data as it lies there. Throws {@link BackupDamaged} where the vault has none, or only what its disk has lost. */
async function* lyingPieces({ vault }: Room, { name }: Stored): AsyncGenerator<Uint8Array> {
  try {
    yield* vault.open(name)
  } catch (error) {
    if (error instanceof VaultFailure && (error.trouble === 'missing' || error.trouble === 'damaged'))
      throw new BackupDamaged(error.trouble, name, error.why)
    throw error
  }
}

/**
 * Reads data as it lies there and, where the secret key is here, down to the plain bytes. Throws
 * {@link BackupDamaged}; `took` is told of every piece.
 */
export const checkOpened = async (
  room: Room,
  stored: Stored,
  took: (bytes: number) => Promise<void> | void,
): Promise<void> => {
  if (!formOf(stored.name).encrypted || !room.coding.opens) return await checkData(room.vault, stored, took)
  // What age and zstd hand on was checked by both of them.
  for await (const piece of readData(room, stored)) await took(piece.byteLength)
}

/** Reads data as it lies there, without any key. Throws {@link BackupDamaged}; `took` is told of every piece. */
const checkData = async (
  vault: BackupVault,
  stored: Stored,
  took: (bytes: number) => Promise<void> | void,
): Promise<void> => {
  const found = await lyingData(vault, stored.name, took)
  if (found === null) throw new BackupDamaged('missing', stored.name, '')
  mustBe(stored, found)
}

/** What lies there under a name; null for nothing. */
const lyingData = async (
  vault: BackupVault,
  name: VaultName,
  took: (bytes: number) => Promise<void> | void = () => {},
): Promise<Stored | null> => {
  const meter = new Meter()
  try {
    for await (const piece of meter.of(vault.open(name))) await took(piece.byteLength)
  } catch (error) {
    if (error instanceof VaultFailure && error.trouble === 'missing') return null
    if (error instanceof VaultFailure && error.trouble === 'damaged')
      throw new BackupDamaged('damaged', name, error.why)
    throw error
  }
  return { name, bytes: meter.bytes, sha256: meter.sha256() }
}

/**
 * Data of this digest that lies there although no list names it, as a capture left it that did not end. Null where
 * there is none, where it holds something else, and where it is encrypted to others: no list vouches for it, so what
 * cannot be read is not believed.
 */
export const foundData = async ({ vault, coding }: Room, name: VaultName, digest: Sha256): Promise<Stored | null> => {
  const form = formOf(name)
  const meter = new Meter()
  const hash = createHash('sha256')
  const lying = meter.of(vault.open(name))
  const clear = form.encrypted ? coding.decrypt(lying) : lying
  try {
    for await (const piece of form.compressed ? decompressed(clear) : clear) hash.update(piece)
  } catch (error) {
    if (error instanceof VaultFailure && error.trouble !== 'missing' && error.trouble !== 'damaged') throw error
    return null
  }
  return hash.digest('hex') === digest ? { name, bytes: meter.bytes, sha256: meter.sha256() } : null
}

const mustBe = (stored: Stored, found: { readonly bytes: number; readonly sha256: Sha256 }): void => {
  if (found.bytes !== stored.bytes)
    throw new BackupDamaged('damaged', stored.name, `it has ${found.bytes} bytes instead of ${stored.bytes}`)
  if (found.sha256 !== stored.sha256)
    throw new BackupDamaged('damaged', stored.name, `its content has the SHA-256 ${found.sha256}`)
}

/**
 * Data as one piece, hashed and decompressed by threads of the pool. Longer than `bytesMax` is damaged. Throws
 * {@link BackupDamaged} as {@link readData} does.
 */
export const wholeData = async (room: Room, stored: Stored, bytesMax: number): Promise<Buffer> => {
  const form = formOf(stored.name)
  if (form.encrypted) return await inOne(stored, readData(room, stored), bytesMax)
  // What is compressed is hardly longer than what is in it; what is longer than it should be is not read to its end.
  const lyingMax = form.compressed ? 2 * bytesMax : bytesMax
  const lying = await inOne(stored, lyingPieces(room, stored), Math.min(stored.bytes, lyingMax))
  mustBe(stored, { bytes: lying.byteLength, sha256: await sha256Beside(lying) })
  if (!form.compressed) return lying
  try {
    return await decompressedWhole(lying, bytesMax)
  } catch (error) {
    throw new BackupDamaged('damaged', stored.name, error instanceof Error ? error.message : String(error))
  } finally {
    release(lying)
  }
}

const inOne = async (stored: Stored, from: AsyncIterable<Uint8Array>, bytesMax: number): Promise<NonSharedBuffer> => {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of from) {
    bytes += piece.byteLength
    if (bytes > bytesMax) throw new BackupDamaged('damaged', stored.name, 'it is too long')
    pieces.push(piece)
  }
  const whole = Buffer.concat(pieces)
  pieces.forEach(release)
  return whole
}
