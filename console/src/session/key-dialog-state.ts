import { useSyncExternalStore } from 'react'

let open = false
const listeners = new Set<() => void>()

const set = (next: boolean): void => {
  open = next
  for (const listener of listeners) listener()
}

/** The dialog that takes a key is opened from wherever one is missing. */
export const openKeyDialog = (): void => set(true)
export const closeKeyDialog = (): void => set(false)

export const useKeyDialog = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => open,
  )
