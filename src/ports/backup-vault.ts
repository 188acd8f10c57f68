import type { ByteRange } from '../kernel/range.ts'
import type { VaultName } from './vault-name.ts'

/**
 * A place outside of the service where its backups are kept: a folder on another disk, a bucket elsewhere. What has a
 * name there is whole, and nothing is ever written over it: so that it may be a place that forbids to (write-once
 * disks, object lock), and so that nobody who only writes can spoil what is there.
 *
 * What survives what: a process that dies leaves each name with nothing or with all of it, never with a part. What was
 * {@link create}d stays after a power cut, and with it all that was {@link write}n before. Until then what was written
 * may be gone as if it had never been.
 *
 * Every method throws a `VaultFailure` of `ports/vault.ts` where the vault is at fault; what whoever writes throws
 * passes unchanged.
 */
export interface BackupVault {
  /** Where it is, for people. */
  readonly where: string

  /**
   * Keeps other processes from writing there until it is given back or the process has ended, however it ends, and
   * removes what writers that died left half-written. Null when others are there. A vault that knows no locks lets
   * everybody in: what is safe there is safe because nothing is written over.
   */
  claim(): Promise<AsyncDisposable | null>

  /** Bytes of what is there, or null where there is nothing. */
  size(name: VaultName): Promise<number | null>

  /** What is there, whole, or null where there is nothing. What is longer than `bytesMax` is `damaged`. */
  read(name: VaultName, bytesMax: number): Promise<Uint8Array | null>

  /** The bytes of a range, or all; each piece has memory of its own. `missing` where there is nothing. */
  open(name: VaultName, range?: ByteRange): AsyncIterable<Uint8Array>

  /** What is there below a name, `<within>/…`, in no promised order. Others than names are passed over. */
  list(within: VaultName): AsyncIterable<KeptFile>

  /**
   * Writes what is not there yet, and says whether it did. It has its name when this resolves. If `from` throws,
   * nothing has changed. `bytes` says how much comes, where that is known, and is a hint where it is not.
   */
  write(name: VaultName, bytes: number, from: (take: TakePiece) => Promise<void>): Promise<boolean>

  /** The same of what is in memory, and durable when it resolves, with all that was written before. */
  create(name: VaultName, bytes: Uint8Array): Promise<boolean>

  /** What was there is gone, durably. Harmless where nothing was. */
  remove(names: readonly VaultName[]): Promise<void>

  /** Room in it, or null where a vault knows no end. */
  space(): Promise<{ readonly freeBytes: number; readonly totalBytes: number } | null>
}

/** Takes a piece, and gives its memory back when it resolves. */
export type TakePiece = (piece: Uint8Array) => Promise<void>

export interface KeptFile {
  readonly name: VaultName
  readonly bytes: number
  readonly modifiedAtMs: number
}
