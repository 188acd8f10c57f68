import { packBytesMax, packedBelowBytes, packsKept } from '../../../kernel/limits/backups.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { BackupDamaged, type Room, readData, wholeData } from './data-files.ts'
import type { Entry } from './entries.ts'
import { formOf } from './layout.ts'

/** Reads blobs by their places in a vault. Packs are read whole, and the last few stay in memory. */
export class PackReader {
  readonly #room: Room
  readonly #packs = new Map<VaultName, Promise<Buffer>>()

  constructor(room: Room) {
    this.#room = room
  }

  /** The bytes of a blob. Throws {@link BackupDamaged} where its file is not as it was written. */
  async *bytesOf({ stored, offset, bytes }: Entry): AsyncGenerator<Uint8Array> {
    if (formOf(stored.name).kind === 'blob') return yield* readData(this.#room, stored)
    const pack = await this.#pack(stored)
    if (offset + bytes > pack.byteLength) throw new BackupDamaged('damaged', stored.name, 'it is too short')
    if (bytes > 0) yield Buffer.from(pack.subarray(offset, offset + bytes))
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
