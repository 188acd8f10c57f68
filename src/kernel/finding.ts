/**
 * What a check found. `damage` breaks an invariant; `waiting` is something that a crash left and that upkeep clears away
 * by itself; both in words that name the thing.
 */
export interface Finding {
  readonly kind: 'damage' | 'waiting'
  readonly text: string
}

export const damage = (text: string): Finding => ({ kind: 'damage', text })
export const waiting = (text: string): Finding => ({ kind: 'waiting', text })
