/**
 * Taking over what the last process left.
 *
 * PROMISE. Nothing is acknowledged on a log of which nobody knows whether the disk holds it.
 *
 * WHY IT IS NOT KNOWN. After a failed sync the kernel may keep pages in its memory and mark them clean: whoever reads
 * them sees commits that the disk does not have, and a later sync of theirs succeeds and proves nothing. The process
 * that meets this ends (`group-sync.ts`). The next one would read such a log, recover commits from it, and acknowledge
 * others that lie behind them in the same file: a power cut then ends the log at the first lost page, and takes them
 * all.
 *
 * WHAT IS DONE, by the first process that opens the database, before anybody relies on what SQLite reads:
 *
 * 0. SQLite is asked whether anybody else has the database open: a process of an older program, which knows nothing of
 *    our lock, or some other program. Then the start is refused: writing the log again beside a writer would take its
 *    commits. It is kept to ourselves from here on; what SQLite does when that ends is 2.
 * 1. Every byte of the log is written again over itself, which makes every page of it dirty, and is synced. What
 *    recovery will read is now what the disk holds. It is the same text in the same place: a power cut meanwhile leaves
 *    of each sector the old one or the new, and where the disk had what was acknowledged, both are the same. It needs
 *    no room, so that a full disk does not keep a service from starting, and no other name, so that nobody is left with
 *    another file.
 * 2. SQLite recovers the log from its beginning and copies all of it into the database file, synced, and empties it.
 *    That also settles the database file: a page of it that a failed sync may have lost was written since the file was
 *    last synced well, a log begins anew only after that, so it stands in this log and is written again.
 * 3. The folder is synced: the names are durable.
 *
 * WHO IS FIRST is said by a lock between our processes, `<database>-lock`: exclusive for the first, then shared by all.
 * One that comes later trusts what the others wrote, since they would have met the failure: every open descriptor of a
 * file is told of a failed write once. But a descriptor that is opened after it was told to others is not. So who meets
 * a failure leaves the mark `<database>-suspect` and ends; others end when they see it, and who comes waits until all
 * have gone and is the first. The mark need not be durable: what it warns of is the kernel's memory, which a power cut
 * empties.
 */
import { closeSync, existsSync, fdatasyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { databaseConnectMs, sqliteLockPauseMs, sqliteLogRenewBytes } from '../../kernel/limits/engines.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { SqliteConnection } from './connection.ts'
import { isBusy } from './errors.ts'
import { lockFile } from './file-lock.ts'
import { syncFolder } from './wal-file.ts'

/** What has to be done with an open database on the way. */
interface Opened extends AsyncDisposable {
  takeOverLog(): void
  keepLock(lock: Disposable): void
}

const suspectMark = (path: string): string => `${path}-suspect`
const openLock = (path: string): string => `${path}-lock`

/** Leaves the mark of a failed sync. */
export const suspect = (path: string): void => {
  try {
    closeSync(openSync(suspectMark(path), 'a', 0o600))
  } catch {
    // Where no name can be made, nobody else can go on writing either.
  }
}

/** Whether a process that has it open, or had, met a failed sync. */
export const isSuspect = async (path: string): Promise<boolean> => {
  try {
    await stat(suspectMark(path))
    return true
  } catch {
    return false
  }
}

/**
 * Opens a database in its turn, as above. Throws `DatabaseUnavailable` when others do not let it within a few seconds.
 */
export const openInOrder = async <T extends Opened>(path: string, open: () => T): Promise<T> => {
  const deadline = performance.now() + databaseConnectMs
  /** What was opened as the first, and waits for its shared lock. */
  const own: { first: T | null } = { first: null }
  try {
    for (;;) {
      const opened = await whileNobodyElse(async () => {
        own.first ??= await openFirst(path, open)
        const shared = locked(path, 'shared')
        return shared === null ? null : await openBeside(path, shared, () => own.first ?? open())
      }, deadline)
      if (opened !== null) return opened
      if (performance.now() >= deadline) break
      await pause(Math.random() * sqliteLockPauseMs)
    }
    throw new DatabaseUnavailable(
      (await isSuspect(path))
        ? `A sync of ${path} failed, and a process that has it open has not ended. End it, then start again.`
        : `Another process has kept ${path} to itself for ${databaseConnectMs} ms.`,
    )
  } catch (error) {
    await own.first?.[Symbol.asyncDispose]()
    throw error
  }
}

/** Somebody has the database open who does not hold our lock: another program, or one of ours between its two locks. */
class OpenElsewhere extends DatabaseUnavailable {}

/**
 * Null, to be tried again, while somebody has the database open without our lock; after the deadline that is the error.
 */
const whileNobodyElse = async <T>(work: () => Promise<T | null>, deadline: number): Promise<T | null> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OpenElsewhere && performance.now() < deadline) return null
    throw error
  }
}

/**
 * The lock is given back for a shared one: who is first in between finds a log without a frame, and changes nothing.
 */
const openFirst = async <T extends Opened>(path: string, open: () => T): Promise<T | null> => {
  const alone = locked(path, 'exclusive')
  if (alone === null) return null
  let opened: T | undefined
  try {
    mustBeDatabase(path)
    const ours = keptToOurselves(path)
    try {
      renewLog(path)
    } finally {
      ours?.close()
    }
    opened = open()
    opened.takeOverLog()
    rmSync(suspectMark(path), { force: true })
    return opened
  } catch (error) {
    await opened?.[Symbol.asyncDispose]()
    throw error
  } finally {
    alone[Symbol.dispose]()
  }
}

const openBeside = async <T extends Opened>(path: string, shared: Disposable, open: () => T): Promise<T | null> => {
  try {
    if (!(await isSuspect(path))) {
      const opened = open()
      opened.keepLock(shared)
      return opened
    }
  } catch (error) {
    shared[Symbol.dispose]()
    throw error
  }
  shared[Symbol.dispose]()
  return null
}

const locked = (path: string, mode: 'exclusive' | 'shared'): Disposable | null => {
  try {
    return lockFile(openLock(path), mode)
  } catch (cause) {
    throw new DatabaseUnavailable(`The database file ${path} cannot be opened.`, { cause })
  }
}

/** A connection that keeps everybody else out until it closes; null where there is no database yet. */
const keptToOurselves = (path: string): SqliteConnection | null => {
  if (!existsSync(path)) return null
  const connection = new SqliteConnection(path, false)
  try {
    connection.exec('pragma busy_timeout = 0')
    connection.exec('pragma locking_mode = exclusive')
    connection.value('select count(*) from sqlite_schema') // The lock is taken by the first read.
    return connection
  } catch (cause) {
    connection.close()
    if (!isBusy(cause)) throw cause
    throw new OpenElsewhere(
      `Another program has ${path} open. End it (processes of an older version, too), then start again.`,
      { cause },
    )
  }
}

/** Writes the log of a closed database again over itself, and makes it and its name durable. */
const renewLog = (path: string): void => {
  const log = openedIfThere(`${path}-wal`, 'r+')
  if (log === null) return
  try {
    const piece = Buffer.alloc(sqliteLogRenewBytes)
    for (let at = 0, read = 1; read > 0; at += read) {
      read = readSync(log, piece, 0, piece.length, at)
      for (let written = 0; written < read; ) written += writeSync(log, piece, written, read - written, at + written)
    }
    fdatasyncSync(log)
  } catch (cause) {
    throw new DatabaseUnavailable(`The log of the database, ${path}-wal, cannot be read and made durable.`, { cause })
  } finally {
    closeSync(log)
  }
  syncFolder(dirname(path))
}

/**
 * A file that was cut off while it was made, before anything was answered, begins with anything; its journal says so,
 * and SQLite makes it empty again. Only while nobody has it open: closing the file would end locks of this process
 * (close(2) and POSIX locks). */
const mustBeDatabase = (path: string): void => {
  const file = openedIfThere(path, 'r')
  if (file === null) return
  try {
    const start = Buffer.alloc(fileStart.length)
    const read = readSync(file, start, 0, start.length, 0)
    if (read > 0 && !start.equals(fileStart) && !existsSync(`${path}-journal`))
      throw new DatabaseUnavailable(`The database does not work: the file ${path} is not a database.`)
  } finally {
    closeSync(file)
  }
}

/** What every file of SQLite begins with. */
const fileStart = Buffer.from('SQLite format 3\0')

const openedIfThere = (path: string, flags: 'r' | 'r+'): number | null => {
  try {
    return openSync(path, flags)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new DatabaseUnavailable(`The database file ${path} cannot be opened.`, { cause })
  }
}
