import type { SqliteConnection } from './connection.ts'

/** Something to be done in a transaction. */
interface Member {
  /** Does it, from the beginning each time. */
  readonly run: () => Promise<void>
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/**
 * Work that shares transactions: what waits when the event loop turns is done and committed together. A commit writes
 * every page that was touched, and most of what is published touches the same ones, so that many together cost a
 * fraction (measured with 32 clients that each put 4 KiB: half of the processor's time).
 *
 * To whoever asks each is a transaction of its own. They come one after another, each sees what those before it did,
 * and none is told that it is done before the commit. Where one fails, or the commit does, all are taken back and each
 * is done again alone in the same order: so the failure of one is nobody else's, and what it was told is true without
 * the others. Whatever stands in a transaction may therefore be done twice, as on an engine that tries again after two
 * have met.
 *
 * Nothing here waits for its turn at the connection: whoever calls has it, but for `join`'s promise, which may be
 * waited for without.
 */
export class SharedCommits {
  readonly #connection: SqliteConnection
  readonly #begin: () => Promise<void>
  readonly #committed: () => void
  #members: Member[] | null = null

  /** `begin` begins a transaction; `committed` is told of each commit that changed something, at once. */
  constructor(connection: SqliteConnection, begin: () => Promise<void>, committed: () => void) {
    this.#connection = connection
    this.#begin = begin
    this.#committed = committed
  }

  /** Whether work waits for its commit. */
  get isOpen(): boolean {
    return this.#members !== null
  }

  /**
   * Does the work at its turn, which ends when this resolves. `outcome` settles when it is committed, or was taken
   * back. Throws what keeps a transaction from beginning.
   */
  async join<T>(work: () => Promise<T>): Promise<{ readonly outcome: Promise<T> }> {
    const members = this.#members ?? (await this.#open())
    const { promise: outcome, resolve, reject } = Promise.withResolvers<T>()
    let value: T
    const member: Member = {
      run: async () => {
        value = await work()
      },
      done: () => resolve(value),
      failed: reject,
    }
    members.push(member)
    try {
      await member.run()
    } catch (error) {
      this.#members = null
      await this.#takeBack(members, error)
    }
    return { outcome }
  }

  /** Commits what waits for it. Nothing happens where nothing does. */
  async finish(): Promise<void> {
    const members = this.#members
    if (members === null) return
    this.#members = null
    try {
      this.#commit()
    } catch (error) {
      await this.#takeBack(members, error)
      return
    }
    for (const { done } of members) done()
  }

  async #open(): Promise<Member[]> {
    await this.#begin()
    this.#connection.changed = false
    this.#members = []
    return this.#members
  }

  #commit(): void {
    this.#connection.command('commit')
    if (this.#connection.changed) this.#committed()
  }

  /** Who was alone has failed; otherwise nobody knows yet. */
  async #takeBack(members: readonly Member[], error: unknown): Promise<void> {
    this.#rollback()
    if (members.length === 1) {
      for (const { failed } of members) failed(error)
      return
    }
    for (const member of members) {
      try {
        await this.#begin()
        this.#connection.changed = false
        await member.run()
        this.#commit()
        member.done()
      } catch (failure) {
        this.#rollback()
        member.failed(failure)
      }
    }
  }

  /** SQLite may have rolled back by itself, after a full disk for example. */
  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.command('rollback')
  }
}
