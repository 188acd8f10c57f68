import { receiveBufferBytes, receiveSyncBytesMin } from '../../kernel/limits/transfers.ts'
import { release } from '../../kernel/piece-memory.ts'
import { amongLarge, fdatasync, writeFully } from './files.ts'

/**
 * Where a writer begins, and where it will end if that is known; a sync is started after so many bytes at the latest.
 */
export interface Course {
  readonly from: number
  readonly to: number | null
  readonly syncEveryBytes: number
  /** Asked before every write; what it throws is final. */
  readonly mayWrite?: (() => void) | undefined
}

/**
 * Writes on in a file that is open, or will be in a moment, without copying: pieces that arrive while a write is under
 * way are gathered and go out with the next one, so that a fast sender costs few calls and a slow disk slows the sender
 * (backpressure).
 *
 * Syncs beside the transfer, so that the last one, which the sender waits for, is short: each begins when no more is to
 * come than was written since the one before, down to `receiveSyncBytesMin`.
 *
 * Pieces belong to the writer, which gives their memory back once they are written.
 *
 * Assumes: one caller at a time; `settled` before the file is closed.
 * The first failure of background work is final: it surfaces at the next call and at every one after it. That matters
 * most for syncs, since the system reports lost writes only once.
 */
export class GatheredWriter {
  readonly #descriptor: number | Promise<number>
  readonly #from: number
  readonly #end: number
  readonly #syncEveryBytes: number
  readonly #mayWrite: (() => void) | undefined
  #gathered: Uint8Array[] = []
  /** Gathered, and in the write under way. */
  #waitingBytes = 0
  /** Where in the file the next write goes. */
  #position: number
  #syncedFrom: number
  #draining: Promise<void> | undefined
  /** The sync beside the transfer, and the one that finishing waits for. They never reject. */
  #syncing: Promise<void> | undefined
  #lastSync: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(descriptor: number | Promise<number>, { from, to, syncEveryBytes, mayWrite }: Course) {
    this.#descriptor = descriptor
    this.#from = from
    this.#position = from
    this.#syncedFrom = from
    this.#end = to ?? Number.POSITIVE_INFINITY
    this.#syncEveryBytes = syncEveryBytes
    this.#mayWrite = mayWrite
  }

  /** Resolves when at most `receiveBufferBytes` wait: mostly at once. */
  async write(piece: Uint8Array): Promise<void> {
    this.#throwFailure()
    if (piece.byteLength === 0) return
    this.#gathered.push(piece)
    this.#waitingBytes += piece.byteLength
    this.#draining ??= this.#drain()
    if (this.#waitingBytes > receiveBufferBytes) await this.#room()
  }

  /** Resolves when everything is written and durable. */
  async finish(): Promise<void> {
    await this.#draining
    // A sync that began after the last write covers everything: then that one is waited for, and none follows.
    const isCovered = this.#syncing !== undefined && this.#syncedFrom === this.#position
    if (!isCovered && this.#failure === undefined) this.#lastSync = this.#sync()
    await this.settled()
    this.#throwFailure()
  }

  /** Resolves when no write is under way, after the last one; syncs may be. */
  async written(): Promise<void> {
    await this.#draining
  }

  /** Resolves when no background work is left, whatever became of it. */
  async settled(): Promise<void> {
    await this.#draining
    await this.#syncing
    await this.#lastSync
  }

  /** Forgets what is not yet handed to the system. */
  drop(): void {
    this.#failure ??= { error: new Error('written to a staged blob after it was given back') }
    this.#gathered = []
  }

  #roomMade: (() => void) | undefined

  async #room(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#roomMade = resolve
    })
    this.#throwFailure()
  }

  async #drain(): Promise<void> {
    try {
      // Nothing is taken out before the file is open: until then it can still be dropped.
      const descriptor = await this.#descriptor
      while (this.#gathered.length > 0 && this.#failure === undefined) {
        this.#mayWrite?.()
        await this.#writeGathered(descriptor)
      }
    } catch (error) {
      this.#failure ??= { error }
    }
    this.#draining = undefined
    this.#roomMade?.()
  }

  async #writeGathered(descriptor: number): Promise<void> {
    const { pieces, bytes } = this.#takeGathered()
    await writeFully(descriptor, pieces, this.#position)
    pieces.forEach(release)
    this.#position += bytes
    this.#waitingBytes -= bytes
    this.#syncBeside()
    if (this.#waitingBytes <= receiveBufferBytes) this.#roomMade?.()
  }

  /** What goes out in one call: half of what may wait at most, so that the other half comes in meanwhile. */
  #takeGathered(): { pieces: Uint8Array[]; bytes: number } {
    let count = 0
    let bytes = 0
    for (const piece of this.#gathered) {
      if (count > 0 && bytes + piece.byteLength > receiveBufferBytes / 2) break
      bytes += piece.byteLength
      count += 1
    }
    return { pieces: this.#gathered.splice(0, count), bytes }
  }

  #syncBeside(): void {
    if (this.#syncing !== undefined || this.#position - this.#syncedFrom < this.#dueBytes()) return
    this.#syncedFrom = this.#position
    this.#syncing = this.#sync().then(() => {
      this.#syncing = undefined
    })
  }

  #dueBytes(): number {
    return Math.min(this.#syncEveryBytes, Math.max(this.#end - this.#position, receiveSyncBytesMin))
  }

  async #sync(): Promise<void> {
    try {
      const descriptor = await this.#descriptor
      const sync = () => fdatasync(descriptor)
      await (this.#position - this.#from > receiveSyncBytesMin ? amongLarge(sync) : sync())
    } catch (error) {
      this.#failure ??= { error }
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
