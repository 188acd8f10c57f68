/**
 * What a check found. `damage` breaks an invariant; `waiting` is something that a crash left and that upkeep clears away
 * by itself; both in words that name the thing.
 */
export interface Finding {
  readonly kind: 'damage' | 'waiting'
  readonly text: string
  /** Puts it right where that can lose nothing: what is derived is derived again, what is forgotten is queued. */
  readonly mend: (() => Promise<void>) | null
}

export const damage = (text: string, mend: (() => Promise<void>) | null = null): Finding => ({
  kind: 'damage',
  text,
  mend,
})
export const waiting = (text: string): Finding => ({ kind: 'waiting', text, mend: null })
