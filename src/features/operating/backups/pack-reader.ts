import { gathered } from '../../../content/checks/copies.ts'
import { packBytesMax, packedBelowBytes, packsKept } from '../../../kernel/limits/backups.ts'
import { releaseAll } from '../../../kernel/piece-memory.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { BackupDamaged, type Room, readData, wholeData } from './data-files.ts'
import type { Entry } from './entries.ts'
import { formOf } from './layout.ts'

/** A pack in memory. */
interface KeptPack {
  readonly bytes: Promise<Buffer>
  /** How many work on something of it. */
  users: number
  /** Whether pieces of it are with somebody who may keep them: then it is left to the collector. */
  lent: boolean
  isKept: boolean
}

/**
 * Reads blobs by their places in a vault. Packs are read whole, and the last few stay in memory; one may be read ahead
 * of whoever asks for what is in it.
 */
export class PackReader {
  readonly #room: Room
  readonly #packs = new Map<VaultName, KeptPack>()
  /** The pack that is read ahead, until something of it is asked for. */
  #ahead: VaultName | null = null

  constructor(room: Room) {
    this.#room = room
  }

  /** Begins to read the pack of a blob that will be asked for, unless another one is ahead already. */
  readAhead({ stored }: Entry): void {
    if (formOf(stored.name).kind === 'blob' || this.#packs.has(stored.name)) return
    if (this.#ahead !== null && this.#packs.has(this.#ahead)) return
    this.#ahead = stored.name
    this.#pack(stored)
  }

  /**
   * The bytes of a blob, in the memory of its pack, which stays as it is. Throws {@link BackupDamaged} where its file
   * is not as it was written.
   */
  async *bytesOf(entry: Entry): AsyncGenerator<Uint8Array> {
    const { stored, bytes } = entry
    if (formOf(stored.name).kind === 'blob') return yield* readData(this.#room, stored)
    const pack = this.#asked(stored)
    pack.lent = true
    const piece = within(entry, await pack.bytes)
    // Whoever takes a piece that is all of its memory may give that back.
    if (bytes > 0) yield bytes === piece.buffer.byteLength ? Buffer.from(piece) : piece
  }

  /** Works on a small blob, whole. Its memory may be given back once that is done. Throws as `bytesOf` does. */
  async wholeOf(entry: Entry, work: (whole: Uint8Array) => Promise<void>): Promise<void> {
    const { stored, bytes } = entry
    if (formOf(stored.name).kind === 'blob') return await work(await gathered(entry, readData(this.#room, stored)))
    const pack = this.#asked(stored)
    pack.users += 1
    try {
      const piece = within(entry, await pack.bytes)
      await work(bytes === piece.buffer.byteLength ? Buffer.from(piece) : piece)
    } finally {
      pack.users -= 1
      giveBack(pack)
    }
  }

  #asked(stored: Entry['stored']): KeptPack {
    if (stored.name === this.#ahead) this.#ahead = null
    return this.#pack(stored)
  }

  #pack(stored: Entry['stored']): KeptPack {
    const known = this.#packs.get(stored.name)
    if (known !== undefined) return known
    const bytes = wholeData(this.#room, stored, packBytesMax + packedBelowBytes)
    const pack: KeptPack = { bytes, users: 0, lent: false, isKept: true }
    this.#packs.set(stored.name, pack)
    // What is wrong with it is said to whoever asks for it.
    bytes.catch(() => {
      if (this.#packs.get(stored.name) === pack) this.#packs.delete(stored.name)
    })
    const [oldest] = this.#packs
    if (this.#packs.size > packsKept && oldest !== undefined) {
      this.#packs.delete(oldest[0])
      oldest[1].isKept = false
      giveBack(oldest[1])
    }
    return pack
  }
}

const within = ({ stored, offset, bytes }: Entry, pack: Buffer): Uint8Array => {
  if (offset + bytes > pack.byteLength) throw new BackupDamaged('damaged', stored.name, 'it is too short')
  return pack.subarray(offset, offset + bytes)
}

/** Gives the memory of a pack back at once where nobody has anything of it any more. */
const giveBack = ({ bytes, users, lent, isKept }: KeptPack): void => {
  if (users > 0 || lent || isKept) return
  bytes.then(releaseAll, () => {})
}
