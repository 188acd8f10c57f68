import type { Session } from '../attempts.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import { PostgresConnection } from './connection.ts'
import { translated, unavailable } from './errors.ts'
import type { Taken } from './lane.ts'

/** A connection for the length of a transaction. */
export class PostgresSession extends PostgresConnection implements Session {
  readonly sequential = false
  readonly #taken: Taken

  constructor(taken: Taken) {
    super(async (query) => {
      try {
        return await taken.query(query)
      } catch (error) {
        throw translated(error)
      }
    })
    this.#taken = taken
  }

  /** Nothing is wrong with a beginning: what refuses it is the server, one that follows another for example. */
  async begin(text: string): Promise<void> {
    try {
      await this.#taken.query({ text })
    } catch (error) {
      this.#taken.lost(error)
      throw unavailable(error)
    }
  }

  async commit(): Promise<void> {
    let answer: string
    try {
      answer = (await this.#taken.query({ text: 'commit' })).command
    } catch (cause) {
      this.#taken.doubt(cause)
      const error = translated(cause)
      if (!(error instanceof DatabaseUnavailable)) throw error
      const message = 'The connection to the database was lost during a commit, which may have happened or not.'
      throw new DatabaseUnavailable(message, { cause, outcomeUnknown: true })
    }
    if (answer !== 'COMMIT') throw new Error('The server rolled the transaction back instead of committing it.')
  }

  async rollback(): Promise<void> {
    if (this.#taken.inDoubt) return
    await this.#taken.query({ text: 'rollback' }).catch((error: unknown) => this.#taken.doubt(error))
  }
}
