import type { JournalAction } from '../../../kernel/journal-actions.ts'

/** One repository, one receiver. */
export interface Subscription {
  readonly id: string
  readonly repository: string
  readonly url: string
  /** Null for all. */
  readonly actions: readonly JournalAction[] | null
}

/** Where the secrets are that it is signed by. */
export interface SecretFiles {
  readonly secretFile: string
  /** While secrets are being replaced: events are signed with both. */
  readonly nextSecretFile: string | null
}

/** A subscription with where its secrets are now. */
export interface Subscribed {
  readonly subscription: Subscription
  readonly secretFiles: () => SecretFiles
}

/** A secret cannot be read, or is none. */
export class SecretUnusable extends Error {
  override readonly name = 'SecretUnusable'
}

/** The host of the receiver with its port: as much of its address as is told. */
export const hostOf = ({ url }: Subscription): string => new URL(url).host

/** What its cursor in the journal is called. */
export const cursorOf = (id: string): string => `webhook:${id}`
