/**
 * Durability in groups.
 *
 * PROMISE. When `durable()` resolves, everything that was committed (by this process or another) and visible at the
 * call survives a power cut. A commit itself syncs nothing (`synchronous=NORMAL`); one `fdatasync` of the `-wal` file,
 * in the thread pool, serves everyone who committed before it *began*.
 *
 * WHY THIS IS AS DURABLE AS synchronous=FULL, which is the same fdatasync, made by every commit for itself:
 *
 * 1. A commit appends frames to the `-wal` file with write() and is visible to others only after that. Recovery accepts
 *    the longest prefix of frames whose salts and cumulative checksums hold and that ends in a commit frame. What a
 *    power cut leaves of unsynced frames (nothing, some sectors, any order) can therefore only shorten the prefix,
 *    never mix it.
 * 2. fdatasync promises, per inode and whoever wrote it, that all data written before the call began, and the file size
 *    needed to read it, are on stable storage when it returns. So after a sync that began after a commit, the prefix
 *    contains that commit.
 * 3. Frames leave the `-wal` file only by being overwritten from its start, when a writer finds that a checkpoint has
 *    copied all of them. A checkpoint (also under NORMAL) syncs the `-wal` file *before* it copies, and syncs the
 *    database file after copying and *before* it declares the frames copied. So what is overwritten is durable in the
 *    database file, and what is copied was durable in the `-wal` file: the database file never holds a commit that the
 *    log could lose. The restarted log gets new salts, and its header is synced before frames follow it; old frames
 *    cannot be taken for new.
 * 4. The file is the same file: SQLite creates the `-wal` file when the first connection uses the database and unlinks
 *    it when the last one closes. Our writer connection is open for as long as we hold our descriptor, so both name one
 *    inode. (POSIX locks are dropped when *any* descriptor of a file is closed, but SQLite locks the database and
 *    `-shm` files only; neither is ever opened here.)
 * 5. The name of the file is durable: the folder is synced after the files are made and before the first transaction,
 *    because under NORMAL SQLite would do so only at its first checkpoint.
 *
 * What is left to FULL: another *process* may read a commit of ours before it is synced. Therefore a transaction that
 * wrote nothing also waits if something it may have seen is unsynced: a commit of ours, or one of another process,
 * which `version` (SQLite's data_version) reveals.
 *
 * The log is copied and begun anew in a thread (`log-keeper.ts`), whose syncs nobody here waits for.
 *
 * A FAILED SYNC IS FINAL, here or while the log is copied. After an fsync error the kernel may have marked the lost
 * pages clean: a second sync would succeed and prove nothing. So every waiter and every later call fails, and the
 * process ends. The next one does not trust what it can read of the log either (`opening.ts`).
 */
export interface SyncedFile {
  /** Makes everything durable that was written before the call. */
  sync(): Promise<void>
  /** Changes when another process has committed. */
  version(): unknown
}

interface Group {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class GroupSync {
  readonly #file: SyncedFile
  readonly #onFailure: (error: unknown) => Error
  #failure: Error | undefined
  /** Commits so far, those under the running sync, those known to be durable. */
  #committed = 0
  #syncing = 0
  #synced = 0
  #syncingVersion: unknown
  #syncedVersion: unknown
  #running: Group | undefined
  #waiting: Group | undefined

  /** `onFailure` makes the error that everyone gets from then on. It is called once. */
  constructor(file: SyncedFile, onFailure: (error: unknown) => Error) {
    this.#file = file
    this.#onFailure = onFailure
  }

  /** The error after which nothing is durable any more. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** What was to be synced elsewhere was not: all that holds after a failed sync of ours. */
  fail(error: unknown): void {
    this.#fail(error)
  }

  /** To be called in the same turn of the event loop as the commit, so that nobody can see it unmarked. */
  committed(): void {
    this.#committed++
  }

  /** Resolves when everything visible now is durable: at once if it is. */
  durable(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    const version = this.#file.version()
    if (this.#synced === this.#committed && this.#syncedVersion === version) return Promise.resolve()
    if (this.#running !== undefined && this.#syncing === this.#committed && this.#syncingVersion === version) {
      return this.#running.promise
    }
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers<void>()
      // Not at once: commits of this turn of the event loop may join.
      if (this.#running === undefined) setImmediate(() => void this.#syncWaiting())
    }
    return this.#waiting.promise
  }

  async #syncWaiting(): Promise<void> {
    for (let group = this.#waiting; group !== undefined; group = this.#waiting) {
      this.#running = group
      this.#waiting = undefined
      this.#syncing = this.#committed
      try {
        this.#syncingVersion = this.#file.version()
        await this.#file.sync()
      } catch (error) {
        this.#fail(error)
        return
      }
      if (this.#failure !== undefined) return
      this.#synced = this.#syncing
      this.#syncedVersion = this.#syncingVersion
      this.#running = undefined
      group.resolve()
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = this.#onFailure(error)
    this.#running?.reject(this.#failure)
    this.#waiting?.reject(this.#failure)
    this.#running = undefined
    this.#waiting = undefined
  }
}
