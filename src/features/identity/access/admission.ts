import type { AccessRule } from '../../../contract/operation.ts'
import type { Transaction } from '../../../database/database.ts'
import { LetIn } from '../../../journal/actor.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { lockServiceAccountRow } from '../service-accounts/service-accounts.ts'
import { lockKeyRow } from '../service-accounts/service-keys.ts'
import { lockAccountRow } from '../sessions/sessions.ts'
import { authorize, type CallerDeps, callerOf } from './access.ts'

/**
 * What was asked when a request was let in. The pipeline makes it, so that it can be asked again inside a transaction.
 */
export interface Question {
  /** What was sent in the header; null where anyone may call and for a link, which changes nothing. */
  readonly credential: string | null
  /** The name of the wire that it was sent at. */
  readonly wire: string
  /** What a pass had to be for; null for one of the whole wire. */
  readonly passFor: string | null
  readonly rule: AccessRule
  /** Those of the path. */
  readonly parameters: Readonly<Record<string, string>>
}

export class Admission extends LetIn {
  readonly #deps: CallerDeps
  readonly #caller: Caller | null
  readonly #question: Question

  constructor(deps: CallerDeps, caller: Caller | null, question: Question) {
    super()
    this.#deps = deps
    this.#caller = caller
    this.#question = question
  }

  /**
   * Asks again inside a transaction, after locking the row that all who take the caller's right away lock, too: the
   * account of a person, the account and the key of a service. Throws what a fresh request would be told, 401, 403 or
   * 404.
   */
  async within(tx: Transaction): Promise<Caller | null> {
    const { credential, wire, passFor, rule, parameters } = this.#question
    if (this.#caller === null || credential === null) return null
    if (this.#caller.kind === 'account') await lockAccountRow(tx, this.#caller.id)
    if (this.#caller.kind === 'service-key') {
      await lockServiceAccountRow(tx, this.#caller.id)
      await lockKeyRow(tx, this.#caller.keyId)
    }
    const caller = await callerOf(tx, this.#deps, credential, { wire, passFor, again: true })
    await authorize(tx, caller, rule, parameters)
    return caller
  }
}
