/**
 * What a check found. `damage` breaks an invariant; `waiting` is something that a crash left and that upkeep clears
 * away by itself; `quarantine` is something that nothing speaks of and that is kept until a person decides; all in
 * words that name the thing.
 */
export interface Finding {
  readonly kind: 'damage' | 'waiting' | 'quarantine'
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
export const quarantined = (text: string): Finding => ({ kind: 'quarantine', text, mend: null })
