import { useSyncExternalStore } from 'react'
import { storedAs } from '../platform/stored-as.ts'
import { onSession, onSignOut, session } from './session.ts'

/** Names of repositories are nobody else's business: each person has a place of their own, which goes when they do. */
const keyOf = (person: string): string => storedAs(`svc.stars.${person}`)

const listeners = new Set<() => void>()

const read = (): readonly string[] => {
  const person = session()?.account.id
  if (person === undefined) return []
  try {
    const value: unknown = JSON.parse(localStorage.getItem(keyOf(person)) ?? '[]')
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

let stars: readonly string[] = []

const set = (next: readonly string[]): void => {
  stars = next
  for (const listener of listeners) listener()
}

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
  const person = session()?.account.id
  if (person === undefined) return
  const next = stars.includes(repository) ? stars.filter((each) => each !== repository) : [...stars, repository].sort()
  localStorage.setItem(keyOf(person), JSON.stringify(next))
  set(next)
}

/** Finds those of whoever the session is of, now and whenever that changes. */
export const followStars = (): void => {
  set(read())
  onSession(() => set(read()))
  onSignOut((person) => localStorage.removeItem(keyOf(person)))
}
