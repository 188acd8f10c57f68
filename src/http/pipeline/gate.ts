import type { AccessRule, SecondRepository } from '../../contract/operation.ts'
import type { Caller } from '../../kernel/caller.ts'

/** Those of the path. */
export type Params = Readonly<Record<string, string>>

/** Who is it, and may they? The only two questions that the pipeline asks before it looks at the input. */
export interface Gate {
  /** The caller of a credential. Throws the 401 that fits. */
  authenticate(credential: string, shown: Shown): Promise<Caller>
  /** The caller of a download link to what the parameters of the path name. Throws the 401 that fits. */
  authenticateLink(token: string, parameters: Params): Promise<Caller>
  /**
   * Returns when the rule lets the caller pass, on what the parameters of the path name. Throws 401, 403 or, for what
   * the caller may not see, 404.
   */
  authorize(caller: Caller | null, rule: AccessRule, parameters: Params): Promise<void>
  /**
   * Returns when the caller may on the second repository of the rule that let the request pass. Throws 403 or, for what
   * the caller may not see, 404.
   */
  authorizeAlso(caller: Caller | null, second: SecondRepository, repository: string): Promise<void>
  /** What the features ask again by, inside a transaction. */
  admission(caller: Caller | null, question: Question): object
}

/** Where a credential is shown. */
interface Shown {
  /** The name of the wire. */
  readonly wire: string
  /** What a pass has to be for there; null for those of the whole wire. */
  readonly passFor: string | null
  /** By a request that was let in before with the same. */
  readonly again: boolean
}

interface Question {
  /** What stood in the header, if anything did. */
  readonly credential: string | null
  readonly wire: string
  readonly passFor: string | null
  readonly rule: AccessRule
  readonly parameters: Params
}
