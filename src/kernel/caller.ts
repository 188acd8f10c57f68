import type { Access } from './actions.ts'

/** Who is calling, once the credential was found good. */
export type Caller = AccountCaller | FileKeyCaller

/** A person with a session. */
export interface AccountCaller {
  readonly kind: 'account'
  readonly credential: 'session'
  /** Id of the account. */
  readonly id: string
  readonly name: string
  readonly administrator: boolean
  readonly sessionId: string
}

/** A key from the keys file. */
export interface FileKeyCaller {
  readonly kind: 'file-key'
  readonly credential: 'file-key'
  /** Id of the entry. */
  readonly id: string
  readonly administrator: boolean
  /** May do with service accounts what the recovery key may. */
  readonly serviceAdministrator: boolean
  readonly repositories: ReadonlyMap<string, Access>
}

/** The entry of the keys file that is the recovery key (specification, Recovery key). */
export const recoveryKeyId = 'bootstrap-owner'

export const isRecoveryKey = (caller: Caller): caller is FileKeyCaller =>
  caller.kind === 'file-key' && caller.id === recoveryKeyId

/** How a caller is named in journal, audit and ownership: `account:<uuid>` or `key:<id>`. Stable for ever. */
export const actorOf = (caller: Caller): string =>
  caller.kind === 'account' ? `account:${caller.id}` : `key:${caller.id}`
