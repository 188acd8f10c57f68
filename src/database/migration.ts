import type { Kysely, RawBuilder } from 'kysely'

/** The two engines that one schema and one set of queries serve. */
export type Engine = 'sqlite' | 'postgres'

/** Column types that mean the same on both engines. */
export interface ColumnTypes {
  readonly engine: Engine
  /** Text that compares and sorts by its UTF-8 bytes. */
  readonly text: RawBuilder<unknown>
  /** 64 bits; rows carry it as a number, and a value that a number cannot hold exactly is an error. */
  readonly integer: RawBuilder<unknown>
  /** Uninterpreted bytes, a `Uint8Array` in rows. */
  readonly bytes: RawBuilder<unknown>
}

/**
 * One step of the schema. It runs in one transaction with the row that remembers it, so it happens whole or not at all;
 * once released it is never edited. `up` sees no table types: it must go on meaning what it meant when it was written.
 */
export interface Migration {
  /** 1, 2, 3 … without gaps. */
  readonly number: number
  readonly name: string
  up(q: Kysely<unknown>, types: ColumnTypes): Promise<void>
}
