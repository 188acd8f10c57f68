import type { JournalAction } from '../../../kernel/journal-actions.ts'

/** One repository, one receiver. */
export interface Subscription {
  readonly id: string
  readonly repository: string
  readonly url: string
  /** Null for all. */
  readonly actions: readonly JournalAction[] | null
}

/** A subscription with what it is signed by. */
export interface Subscribed {
  readonly subscription: Subscription
  /** The secret, and behind it the next one where there is one. Throws a {@link SecretUnusable}. */
  readonly secrets: () => Promise<readonly Uint8Array[]>
}

/** A secret cannot be read, or is none. */
export class SecretUnusable extends Error {
  override readonly name = 'SecretUnusable'
}

/** The host of the receiver with its port: as much of its address as is told. */
export const hostOf = ({ url }: Subscription): string => new URL(url).host

/** What its cursor in the journal is called. */
export const cursorOf = (id: string): string => `webhook:${id}`
