import type { VaultName } from './vault-name.ts'

/**
 * A place outside of the service where copies of its catalog are kept: a folder on another disk, a bucket elsewhere.
 * What is in it has a name, is written whole and read whole, and never changes under its name while somebody relies on
 * it.
 *
 * The order of whoever writes is always the same: {@link claim} it, {@link create} what says whose it is, {@link write}
 * the rest, {@link seal} it with what names the rest (I6). Readers go the other way (I7). Between the two, nothing that
 * a vault holds counts for anything, so that a writer may die at any moment.
 *
 * What survives what: a process that dies leaves each name with what it had before or with all of the new, never with a
 * part. After a power cut the same holds, but what was only written may be gone as if it had never been; what was
 * created, removed or sealed stays so. A store that answers a write only when it is durable (S3 does) promises more
 * than is asked here.
 *
 * Every method throws a {@link VaultFailure} where the vault is at fault; what whoever writes throws passes unchanged.
 */
export interface Vault {
  /** Where it is, for people. */
  readonly where: string
  /** Where something in it is, for people. */
  whereIs(name: VaultName): string

  /**
   * Keeps other processes away until it is given back or the process has ended, however it ends. Null when others are
   * there: a writer has a vault for itself, readers share it.
   *
   * `write` makes the vault if there is none, durably, and removes what writers that died left half-written. `read`
   * makes nothing where there is nothing, and is granted without more where nobody can write.
   */
  claim(to: 'write' | 'read'): Promise<AsyncDisposable | null>

  /** Whether nothing is in it, of anybody: what the vault needs for itself aside. True where there is none yet. */
  empty(): Promise<boolean>

  /** Bytes of what is there, or null where there is nothing. */
  size(name: VaultName): Promise<number | null>

  /** What is there, whole, or null where there is nothing. What is longer than `bytesMax` is `damaged`. */
  read(name: VaultName, bytesMax: number): Promise<Uint8Array | null>

  /** The bytes, from the first to the last; each piece has memory of its own. `missing` where there is nothing. */
  open(name: VaultName): AsyncIterable<Uint8Array>

  /** What is there below a name, `<within>/…`, in no promised order. Others than names are passed over. */
  list(within: VaultName): AsyncIterable<Kept>

  /** Writes what is not there yet, and says whether it did: of several that try, one does. Durable when it resolves. */
  create(name: VaultName, bytes: Uint8Array): Promise<boolean>

  /**
   * Writes in the place of what was there, if anything was. It has its name when this resolves, and its bytes are
   * durable by then; the name itself is once something was sealed. If `from` throws, nothing has changed.
   */
  write(name: VaultName, from: (take: Take) => Promise<void>): Promise<void>

  /**
   * The last to be written: once there, it stays, and with it everything that this vault wrote, removed or
   * {@link list}ed before. Until then it is not there, whatever happens (I6). In the place of what was there, in one
   * step.
   */
  seal(name: VaultName, bytes: Uint8Array): Promise<void>

  /**
   * Whether something was sealed under this name. If so, it stays when this resolves: whoever sealed it may have died,
   * or been told of a failure, between the name and its durability.
   */
  sealed(name: VaultName): Promise<boolean>

  /** What was there is gone, durably. Harmless where nothing was. */
  remove(names: readonly VaultName[]): Promise<void>

  /** Room that is left, or null where a vault knows no end. */
  freeBytes(): Promise<number | null>
}

/** Takes a piece, and gives its memory back when it resolves: then it can take more. */
type Take = (piece: Uint8Array) => Promise<void>

export interface Kept {
  readonly name: VaultName
  readonly bytes: number
}

/**
 * What can be wrong with a vault, and there is nothing else:
 *
 * - `missing`: nothing bears the name that was to be opened
 * - `damaged`: something does that was not written by these rules
 * - `full`: there is no room left; what was there stays, and can be read
 * - `unreachable`: it does not answer, or not now, or there can be none at this place
 * - `denied`: it answers, and does not let us
 */
export type VaultTrouble = 'missing' | 'damaged' | 'full' | 'unreachable' | 'denied'

/** Which trouble it is, where, and why in words that go on from there. */
export class VaultFailure extends Error {
  override readonly name = 'VaultFailure'
  readonly trouble: VaultTrouble
  readonly why: string
  constructor(trouble: VaultTrouble, where: string, why: string, options?: ErrorOptions) {
    super(`${where}: ${why}`, options)
    this.trouble = trouble
    this.why = why
  }
}
