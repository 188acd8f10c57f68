import type { Kysely, Transaction as KyselyTransaction } from 'kysely'
import type { Engine } from './migration.ts'
import type { Tables } from './tables/index.ts'

/** Where queries can be run: the reader, a transaction or a snapshot. */
export type Queries = Kysely<Tables>

/** A running transaction. It can be used wherever `Queries` are asked for. */
export type Transaction = KyselyTransaction<Tables>

export interface TransactionOptions {
  /**
   * `acknowledged` (the default): when the promise resolves, everything that the transaction wrote *and read* survives
   * a power cut. `relaxed`: it resolves after the commit; a power cut may still lose it, whole, never in parts.
   */
  readonly durability?: 'acknowledged' | 'relaxed'
}

/** How things stand with a write-ahead log that is ours to look after. */
export interface DatabaseLog {
  /** Length of its file. */
  bytes(): Promise<number>
  /**
   * When any process last saw all of it copied into the database, in milliseconds since the Unix epoch; 0 for never.
   */
  lastCopiedMs(): Promise<number>
  /** Copies that failed in this process and were tried again. */
  readonly failures: number
}

/**
 * One database on either engine. Both keep the same promises, so that code tested on one runs on the other:
 *
 * - a transaction happens whole or not at all, and a statement that fails dooms it even if the error is caught;
 * - rows carry numbers, strings, nulls and bytes only (a condition such as `exists` comes as 0 or 1), and parameters
 *   are the same kinds of value: `undefined`, booleans and dates are refused;
 * - text compares by its bytes, and `like` minds upper and lower case;
 * - what fails because the engine cannot be reached or cannot work is `DatabaseUnavailable`.
 */
export interface Database {
  readonly engine: Engine

  /** Only where the engine does not look after its log itself. */
  readonly log?: DatabaseLog

  /**
   * Reads, each statement by itself on the newest committed state. Writing through it fails. Inside a transaction it
   * throws: the answer would not belong to the transaction, and on PostgreSQL it could wait for itself.
   */
  readonly reader: Queries

  /**
   * The same database for work that takes long by its nature: migrations, moving, checks and upkeep. What requests do
   * is bounded to seconds on a server: beyond that it fails as unavailable, as it does when the server falls silent. In
   * a file, where nobody else can stand still with a lock, there is no difference.
   */
  readonly patient: Database

  /**
   * Runs `work` in one read-write transaction. It may run several times (serialization failure, deadlock, busy file),
   * so it contains SQL and nothing else (I5). On SQLite transactions run one at a time, first come, first served.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>

  /**
   * Runs `work` on one consistent and durable state of the whole database, without stopping anyone. It cannot write.
   */
  snapshot<T>(work: (q: Queries) => Promise<T>): Promise<T>

  /**
   * Calls `listener` with each topic that a committed transaction of this process announced; answers how to stop that.
   * It is a hint and no queue: what other processes commit is not heard.
   */
  listen(listener: (topic: string) => void): () => void

  /** Resolves once everything that `reader` could see at the call survives a power cut. */
  settled(): Promise<void>

  /**
   * Only where the engine does not do it by itself: gives up to so many bytes that rows have left back to the disk, in
   * a transaction of its own. Resolves with how many; 0 where there are none, or where the file was made by a program
   * that did not know how.
   */
  giveBack?(bytes: number): Promise<number>

  /** Throws `DatabaseUnavailable` unless the engine answers now. Cheap enough for a health check. */
  probe(): Promise<void>

  /** Waits for running transactions, then closes. */
  [Symbol.asyncDispose](): Promise<void>
}
