import type { Answer } from '../contract/call.ts'
import { storedAs } from '../platform/stored-as.ts'

/**
 * The session of the person at this browser. It lies in memory and in the store of the tab, which a reload keeps and
 * which ends with the tab; new tabs ask those that are open. Keys are elsewhere (`holders.ts`), and in memory alone.
 */
export type Session = Answer<'login'>

const storeKey = storedAs('svc.session')

type Said =
  | { readonly kind: 'asking' }
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'signed-out'; readonly person: string }

const listeners = new Set<() => void>()
const leaving = new Set<(person: string) => void>()
let current: Session | null = null
let channel: BroadcastChannel | null = null

export const session = (): Session | null => current

export const onSession = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Hears of whoever signs out, here or in another tab: nothing of them stays at this browser. */
export const onSignOut = (listener: (person: string) => void): void => void leaving.add(listener)

const tell = (): void => {
  for (const listener of listeners) listener()
}

const isSession = (value: unknown): value is Session =>
  typeof value === 'object' && value !== null && 'token' in value && 'expiresAt' in value && 'account' in value

const isOver = ({ expiresAt }: Session): boolean => Date.parse(expiresAt) <= Date.now()

const stored = (): Session | null => {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(storeKey) ?? 'null')
    return isSession(value) && !isOver(value) ? value : null
  } catch {
    return null
  }
}

const keep = (next: Session | null): void => {
  current = next
  if (next === null) sessionStorage.removeItem(storeKey)
  else sessionStorage.setItem(storeKey, JSON.stringify(next))
  tell()
}

/** Takes over what a sign-in gave, here and in other tabs whose session is over. */
export const beginSession = (next: Session): void => {
  keep(next)
  say({ kind: 'session', session: next })
}

/** Ends it in all tabs, with what they keep of its person. The service is told by whoever calls this. */
export const endSession = (): void => {
  const person = current?.account.id
  if (person === undefined) return
  say({ kind: 'signed-out', person })
  leave(person)
}

/** Of a session that is over: whoever had it has not left, and goes on after the next sign-in. */
export const dropSession = (): void => keep(null)

const leave = (person: string): void => {
  for (const listener of leaving) listener(person)
  if (current?.account.id === person) keep(null)
}

const say = (said: Said): void => channel?.postMessage(said)

/** How long other tabs may take to answer; one that is open does so at once. */
const neighboursMs = 120

/** Finds the session of this tab, or that of another one that is open. */
export const findSession = async (): Promise<void> => {
  current = stored()
  if (!('BroadcastChannel' in globalThis)) return
  const opened = new BroadcastChannel(`svc:${document.baseURI}`)
  channel = opened
  let answered = (): void => {}
  opened.onmessage = ({ data }: MessageEvent<Said>) => {
    if (data.kind === 'asking' && current !== null && !isOver(current)) say({ kind: 'session', session: current })
    if (data.kind === 'session' && isSession(data.session)) {
      const before = current
      if (before === null || (isOver(before) && before.account.id === data.session.account.id)) {
        keep(data.session)
        answered()
      } else if (isOver(before)) {
        // Somebody else: they begin at the beginning, for what was typed and opened here is not theirs.
        keep(null)
      }
    }
    if (data.kind === 'signed-out') leave(data.person)
  }
  if (current !== null) return
  await new Promise<void>((resolve) => {
    answered = resolve
    setTimeout(resolve, neighboursMs)
    say({ kind: 'asking' })
  })
}
