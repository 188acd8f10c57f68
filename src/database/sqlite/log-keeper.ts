import {
  sqliteLogBusyMs,
  sqliteLogCopyFrames,
  sqliteLogKeptBytes,
  sqliteLogRestartTries,
} from '../../kernel/limits/engines.ts'
import { SqliteConnection } from './connection.ts'
import { isBusy } from './errors.ts'

/** Frames of the log, and how many of them are in the database file. */
export interface LogFrames {
  readonly frames: number
  readonly copied: number
}

/**
 * Copies the log into the database file, and lets it begin anew. Everything here may wait for syncs, so it runs in a
 * thread.
 *
 * PROMISE. While this one lives, no writer of any process begins the log anew: only `restart` does. Whoever begins it
 * anew writes its header and syncs it (see `group-sync.ts`, 3), and a writer would do so in the middle of its commit.
 *
 * HOW. SQLite's rules (`walRestartLog` and `walCheckpoint` in wal.c): a writer begins anew if, when its transaction
 * began, all frames were copied, and no reader holds a read mark 1 to 4. A reader gets such a mark unless all frames
 * are copied at that moment. So a read transaction, the *guard*, that began while something was left to copy keeps the
 * log going on, whatever is copied meanwhile. A copy goes up to the guard's mark, so the guard is renewed before each
 * one. That leaves no gap: it is renewed only while something is left beyond its mark, and as nobody else copies, that
 * is left until it is back.
 *
 * To begin anew the caller keeps the writer of its own process waiting. Then: everything is copied; another connection
 * takes the lock of the writers of all processes; the guard goes; a commit that changes nothing writes the first frame,
 * for which SQLite writes the new header and syncs it, here; the guard comes back. A reader that began before the last
 * frame was copied is in the way: then that commit is one more frame of the old log, and the caller tries again later.
 *
 * Frames are copied and declared copied by SQLite alone, in the order that it has: log synced, pages written, file
 * synced. Each statement says what went wrong; an error from a sync or a write means that nobody knows what the disk
 * holds.
 */
export class LogKeeper {
  readonly #copying: SqliteConnection
  readonly #beginning: SqliteConnection
  readonly #guard: SqliteConnection

  constructor(path: string) {
    this.#copying = new SqliteConnection(path, false)
    this.#beginning = new SqliteConnection(path, false)
    this.#guard = new SqliteConnection(path, true)
    for (const connection of [this.#copying, this.#beginning]) {
      connection.exec('pragma synchronous = normal')
      connection.exec('pragma checkpoint_fullfsync = on')
      connection.exec(`pragma busy_timeout = ${sqliteLogBusyMs}`)
    }
    this.#beginning.exec(`pragma journal_size_limit = ${sqliteLogKeptBytes}`)
    this.#beginGuard()
  }

  /** Copies nothing and says how things stand. */
  look(): LogFrames {
    return this.#checkpoint('noop')
  }

  /** Copies what is there now, beside writers and readers, as far as readers of older states allow. */
  copy(): LogFrames {
    const before = this.look()
    if (before.copied === before.frames) return before
    this.#renewGuard()
    return this.#checkpoint('passive')
  }

  /** Begins the log anew; says false if others were in the way. Meanwhile nobody of this process may write. */
  restart(): boolean {
    for (let made = 0; made < sqliteLogRestartTries; made++) {
      const { frames, copied } = this.copy()
      if (frames - copied > sqliteLogCopyFrames) return false // Somebody reads an old state, and will for a while.
      if (frames === copied && this.#beginAnew()) return true
    }
    return false
  }

  /** Copies everything that can be copied; the last connection to close has nothing left to do. */
  close(): void {
    this.#guard.close()
    try {
      this.#checkpoint('passive')
    } finally {
      this.#beginning.close()
      this.#copying.close()
    }
  }

  /** False where others are in the way: then the log goes on. */
  #beginAnew(): boolean {
    try {
      this.#beginning.exec('begin immediate')
    } catch (error) {
      if (isBusy(error)) return false // Another process has a long transaction.
      throw error
    }
    try {
      this.#guard.exec('commit')
      writeNothingNew(this.#beginning)
      this.#beginning.exec('commit')
    } finally {
      if (this.#beginning.inTransaction) this.#beginning.exec('rollback')
      this.#beginGuard()
    }
    const { frames, copied } = this.look()
    return copied === 0 && frames <= sqliteLogCopyFrames
  }

  #renewGuard(): void {
    if (this.#guard.inTransaction) this.#guard.exec('commit')
    this.#beginGuard()
  }

  #beginGuard(): void {
    if (this.#guard.inTransaction) return
    this.#guard.exec('begin')
    this.#guard.value('select count(*) from sqlite_schema') // The mark is taken by the first read, not by `begin`.
  }

  #checkpoint(mode: 'noop' | 'passive'): LogFrames {
    const row = this.#copying.row(`pragma wal_checkpoint(${mode})`)
    return { frames: Math.max(0, Number(row?.['log'])), copied: Math.max(0, Number(row?.['checkpointed'])) }
  }
}

/**
 * Writes the first frame of a log that is empty, and with it the header, synced: what a later commit would wait for.
 */
export const beginLog = (connection: SqliteConnection): void => {
  connection.exec('begin immediate')
  writeNothingNew(connection)
  connection.exec('commit')
}

/**
 * One frame that says nothing new: a number that SQLite keeps for its users, and that we do not use, is written as it
 * is.
 */
const writeNothingNew = (connection: SqliteConnection): void => {
  const own = Number(connection.value('pragma user_version'))
  connection.exec(`pragma user_version = ${own}`)
}
