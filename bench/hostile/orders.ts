/** What a neighbour is told to do. Each kind takes of it what it needs. */
export interface Orders {
  readonly kind: Kind
  readonly port: number
  /** The addresses that its connections come from, in turn. */
  readonly from: readonly string[]
  /** Connections. */
  readonly count: number
  readonly paths: readonly string[]
  /** Credentials, in turn. */
  readonly credentials: readonly string[]
}

export type Kind = 'crowd' | 'readers' | 'senders' | 'parts' | 'sign-ins' | 'uploads'

/** A neighbour at work, in a process of its own. */
export interface Busy {
  /** Resolves when all that it is to do is under way. */
  readonly standing: Promise<void>
  /** Goes away at once, however much is under way; tells what it did, in words. */
  end(): string
}

export const cycled = <T>(values: readonly T[], index: number): T => {
  const value = values[index % values.length]
  if (value === undefined) throw new Error('none of these was given')
  return value
}
