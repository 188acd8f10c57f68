import type { Access, RepositoryAction } from './actions.ts'
import type { RepositoryIdentity } from './repository-identity.ts'

/** Who is calling, once the credential was found good. */
export type Caller = CredentialCaller | LinkCaller

/** Whoever has a credential of their own. */
export type CredentialCaller = AccountCaller | ServiceKeyCaller | FileKeyCaller

/** How somebody asks who has a credential of their own. */
interface Holder {
  /** By a pass that stands for the credential. */
  readonly byPass?: true
}

/** A person, with a session or a personal token. */
export interface AccountCaller extends Holder {
  readonly kind: 'account'
  readonly credential: 'session' | 'personal-token'
  /** Id of the account. */
  readonly id: string
  readonly name: string
  /** Only a session carries it: a token never has more than repository access. */
  readonly administrator: boolean
  /** A read token changes nothing. Sessions are read-write. */
  readonly scope: TokenScope
  /** Id of the session or token. */
  readonly credentialId: string
}

export type TokenScope = 'read' | 'read-write'

/** Actions per repository, not per id: who comes after a repository under its id is another one. */
export type RepositoryPermissions = ReadonlyMap<RepositoryIdentity, ReadonlySet<RepositoryAction>>

/** A key of a service account. */
export interface ServiceKeyCaller extends Holder {
  readonly kind: 'service-key'
  readonly credential: 'service-key'
  /** Id of the service account, which owns what its keys start. */
  readonly id: string
  readonly keyId: string
  readonly administrator: false
  /** A key that was issued and not activated may do nothing but be activated. */
  readonly pending: boolean
  readonly expiresAt: string
  /** The intersection of the account's policy and the key's own bindings. */
  readonly permissions: RepositoryPermissions
}

/** A key from the keys file. */
export interface FileKeyCaller extends Holder {
  readonly kind: 'file-key'
  readonly credential: 'file-key'
  /** Id of the entry. */
  readonly id: string
  readonly administrator: boolean
  /** May do with service accounts what the recovery key may. */
  readonly serviceAdministrator: boolean
  /** By id: the file means whichever repository has it. */
  readonly repositories: ReadonlyMap<string, ReadonlySet<Access>>
}

/** Whoever has the link to one artifact: it may fetch its bytes and nothing else. */
export interface LinkCaller {
  readonly kind: 'link'
  readonly credential: 'download-link'
  /** Tells links apart. No secret, and stored nowhere. */
  readonly id: string
  readonly administrator: false
  readonly repository: string
  /** Whose share of the downloads it takes: that of who made it. All links with one share have one request budget. */
  readonly share: string
}

/** The entry of the keys file that is the recovery key (specification, Recovery key). */
export const recoveryKeyId = 'bootstrap-owner'

/** How a caller is named in journal, audit and ownership. Stable for ever. */
export const actorOf = (caller: Caller): string => {
  switch (caller.kind) {
    case 'account':
      return `account:${caller.id}`
    case 'service-key':
      return `service-account:${caller.id}`
    case 'file-key':
      return `key:${caller.id}`
    case 'link':
      return `link:${caller.id}`
    default:
      return caller satisfies never
  }
}

/** The same, asking by a pass: of what belongs to no repository nothing is left. */
export const byPass = (caller: CredentialCaller): CredentialCaller =>
  caller.kind === 'file-key'
    ? { ...caller, administrator: false, serviceAdministrator: false, byPass: true }
    : { ...caller, administrator: false, byPass: true }

export const asksByPass = (caller: Caller): boolean => caller.kind !== 'link' && caller.byPass === true

/** True for a credential that may only read, whatever its holder may do otherwise. */
export const readsOnly = (caller: Caller): boolean => caller.kind === 'account' && caller.scope === 'read'
