import type { Answer } from '../contract/call.ts'

/**
 * The session of the person at this browser. It lies in memory and in the store of the tab, which a reload keeps and
 * which ends with the tab; new tabs ask those that are open. Keys are elsewhere (`holders.ts`), and in memory alone.
 */
export type Session = Answer<'login'>

const storeKey = 'svc.session'

type Said =
  | { readonly kind: 'asking' }
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'signed-out' }

const listeners = new Set<() => void>()
let current: Session | null = null
let channel: BroadcastChannel | null = null

export const session = (): Session | null => current

export const onSession = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

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

/** Ends it in all tabs. The service is told by whoever calls this. */
export const endSession = (): void => {
  keep(null)
  say({ kind: 'signed-out' })
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
    if (data.kind === 'asking' && current !== null) say({ kind: 'session', session: current })
    if (data.kind === 'session' && isSession(data.session) && (current === null || isOver(current))) {
      keep(data.session)
      answered()
    }
    if (data.kind === 'signed-out' && current !== null) keep(null)
  }
  if (current !== null) return
  await new Promise<void>((resolve) => {
    answered = resolve
    setTimeout(resolve, neighboursMs)
    say({ kind: 'asking' })
  })
}
