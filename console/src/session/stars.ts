import { useSyncExternalStore } from 'react'

const storeKey = 'svc.stars'
const listeners = new Set<() => void>()

const read = (): readonly string[] => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(storeKey) ?? '[]')
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

let stars = read()

/** Repositories that somebody wants at hand, in this browser. */
export const useStars = (): readonly string[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => stars,
  )

export const toggleStar = (repository: string): void => {
  stars = stars.includes(repository) ? stars.filter((each) => each !== repository) : [...stars, repository].sort()
  localStorage.setItem(storeKey, JSON.stringify(stars))
  for (const listener of listeners) listener()
}
