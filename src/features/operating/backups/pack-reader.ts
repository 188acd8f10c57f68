import { packBytesMax, packedBelowBytes, packsKept } from '../../../kernel/limits/backups.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { BackupDamaged, type Room, readData, wholeData } from './data-files.ts'
import type { Entry } from './entries.ts'
import { formOf } from './layout.ts'

/**
 * Reads blobs by their places in a vault. Packs are read whole, and the last few stay in memory; one may be read ahead
 * of whoever asks for what is in it.
 */
export class PackReader {
  readonly #room: Room
  readonly #packs = new Map<VaultName, Promise<Buffer>>()
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
    // What is wrong with it is said to whoever asks for it.
    this.#pack(stored).catch(() => {})
  }

  /**
   * The bytes of a blob, in the memory of its pack, which stays as it is. Throws {@link BackupDamaged} where its file
   * is not as it was written.
   */
  async *bytesOf({ stored, offset, bytes }: Entry): AsyncGenerator<Uint8Array> {
    if (formOf(stored.name).kind === 'blob') return yield* readData(this.#room, stored)
    if (stored.name === this.#ahead) this.#ahead = null
    const pack = await this.#pack(stored)
    if (offset + bytes > pack.byteLength) throw new BackupDamaged('damaged', stored.name, 'it is too short')
    if (bytes === 0) return
    const piece = pack.subarray(offset, offset + bytes)
    // Whoever takes a piece that is all of its memory may give that back.
    yield bytes === pack.buffer.byteLength ? Buffer.from(piece) : piece
  }

  async #pack(stored: Entry['stored']): Promise<Buffer> {
    const known = this.#packs.get(stored.name)
    if (known !== undefined) return await known
    const reading = wholeData(this.#room, stored, packBytesMax + packedBelowBytes)
    this.#packs.set(stored.name, reading)
    const [oldest] = this.#packs.keys()
    if (this.#packs.size > packsKept && oldest !== undefined) this.#packs.delete(oldest)
    try {
      return await reading
    } catch (error) {
      this.#packs.delete(stored.name)
      throw error
    }
  }
}
