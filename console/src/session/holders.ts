import { useSyncExternalStore } from 'react'
import { type Answer, type AnyGiven, call, type Given, type OperationId } from '../contract/call.ts'
import { operations } from '../contract/generated.ts'
import { isProblem, Problem } from '../contract/problem.ts'
import { dropSession, onSession, session } from './session.ts'

/**
 * Who acts from this tab: the session, and keys that were added to it. A session never holds some actions (deleting
 * files, storage, diagnostics), so keys stand beside it; what a button does says by which. Keys are in memory alone:
 * a reload forgets them, and so do fifteen minutes in which nobody touches anything, and an hour in all.
 */
export interface Holder {
  /** `session`, or the id of the key. */
  readonly id: string
  readonly name: string
  readonly secret: string
  readonly administrator: boolean
  readonly permissions: Answer<'getPermissions'>
}

/** Whether an operation may be called, and as whom; or what is missing for it. */
export type May =
  | { readonly may: true; readonly as: Holder | null }
  | { readonly may: false; readonly missing: string; readonly byKeyOnly: boolean }

const keyIdleMs = 15 * 60_000
const keyMostMs = 60 * 60_000

/** Actions that no session holds, whoever it is of. */
const ofKeys = new Set(['artifact.delete', 'storage.read', 'storage.manage', 'diagnostics.read'])

interface State {
  readonly session: Holder | null
  readonly keys: readonly Holder[]
  /** Nobody was asked yet, or the session ended while a page was open. */
  readonly phase: 'unknown' | 'known' | 'expired'
}

let state: State = { session: null, keys: [], phase: 'unknown' }
let idle: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

const set = (next: Partial<State>): void => {
  state = { ...state, ...next }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useHolders = (): State => useSyncExternalStore(subscribe, () => state)

const holderOf = async (id: string, name: string, secret: string): Promise<Holder> => {
  const [me, permissions] = await Promise.all([call('getMe', {}, secret), call('getPermissions', {}, secret)])
  return { id, name, secret, administrator: me.administrator, permissions }
}

/** Learns anew what the session may do. */
export const refreshSession = async (): Promise<void> => {
  const now = session()
  if (now === null) {
    set({ session: null, phase: 'known' })
    return
  }
  try {
    const holder = await holderOf('session', now.account.name, now.token)
    if (session()?.token === now.token) set({ session: holder, phase: 'known' })
  } catch (error) {
    if (isProblem(error) && error.status === 401) {
      if (state.session === null) {
        dropSession()
        set({ phase: 'known' })
      } else set({ phase: 'expired' })
    } else throw error
  }
}

/**
 * Adds a key to this tab, for as long as its session lasts. Throws the problem of a secret that is none; whoever signed
 * out meanwhile adds nothing.
 */
export const addKey = async (secret: string): Promise<Holder> => {
  const by = session()?.token
  const { id, name } = await call('getMe', {}, secret)
  const holder = await holderOf(id, name, secret)
  if (by === undefined || session()?.token !== by) throw new Problem(401, 'credential_missing', '')
  set({ keys: [...state.keys.filter(({ id }) => id !== holder.id), holder] })
  startIdle()
  setTimeout(() => set({ keys: state.keys.filter((each) => each !== holder) }), keyMostMs)
  return holder
}

export const forgetKeys = (): void => {
  clearTimeout(idle)
  set({ keys: [] })
}

const startIdle = (): void => {
  clearTimeout(idle)
  idle = setTimeout(forgetKeys, keyIdleMs)
}

/** Pages that ask again by themselves are no sign of anybody. */
const followPresence = (): void => {
  for (const sign of ['keydown', 'pointerdown'] as const)
    window.addEventListener(sign, () => {
      if (state.keys.length > 0) startIdle()
    })
}

/** Follows the session wherever it begins and ends. Keys are of the person who added them, and go with them. */
export const followSession = (): void => {
  followPresence()
  let person = session()?.account.id
  onSession(() => {
    const now = session()
    if (now?.account.id !== person) forgetKeys()
    person = now?.account.id
    if (now === null) set({ session: null, phase: 'known' })
    else void refreshSession().catch(() => {})
  })
}

/** A sign-in over the page: what was typed there is still there. */
const sessionOver = (): void => {
  if (state.phase !== 'expired') set({ phase: 'expired' })
}

const holds = (holder: Holder, id: OperationId, repository: string | undefined): boolean => {
  const [, , access] = operations[id]
  const { permissions } = holder
  if (typeof access === 'string') {
    if (access === 'administrator') return holder.administrator
    if (access === 'session') return holder.id === 'session'
    if (access === 'service-administrator') return permissions.administration.some((each) => each.accountId === null)
    // Everybody may ask for it; there is something in it for whoever administers services.
    if (id === 'listServiceAccounts')
      return permissions.administration.some(({ actions }) => actions.includes('service-account.read'))
    return access !== 'own-key'
  }
  if ('repository' in access) {
    const held = permissions.repositories.find((each) => each.repository === repository)?.actions ?? []
    const actions: readonly string[] = access.repository
    return repository === undefined
      ? permissions.repositories.some((each) => actions.every((action) => each.actions.some((one) => one === action)))
      : actions.every((action) => held.some((one) => one === action))
  }
  if ('administration' in access)
    return permissions.administration.some(({ actions }) => actions.includes(access.administration))
  return permissions.system.includes(access.system)
}

const missingFor = (id: OperationId, repository: string | undefined): string => {
  const [, , access] = operations[id]
  if (typeof access === 'string') return access
  if ('repository' in access) {
    const held = state.session?.permissions.repositories.find((each) => each.repository === repository)?.actions ?? []
    const actions: readonly string[] = access.repository
    return actions.find((action) => !held.some((one) => one === action)) ?? actions[0] ?? ''
  }
  return 'administration' in access ? access.administration : access.system
}

/** The one question of the console whether something may be done: on a repository, or anywhere. */
export const may = (id: OperationId, repository?: string): May => {
  const [, , access] = operations[id]
  const all = [...(state.session === null ? [] : [state.session]), ...state.keys]
  const found = all.find((holder) => holds(holder, id, repository))
  if (found !== undefined) return { may: true, as: found }
  if (access === 'anyone') return { may: true, as: null }
  const missing = missingFor(id, repository)
  return {
    may: false,
    missing,
    byKeyOnly:
      ofKeys.has(missing) ||
      (typeof access === 'object' && 'administration' in access) ||
      access === 'service-administrator',
  }
}

/** {@link may}, asked again when what the tab holds changes. */
export const useMay = (): typeof may => {
  useHolders()
  return may
}

/**
 * Does something as whoever of this tab may. Where nobody may it is tried all the same, as the session: the service
 * decides, and says what is missing. Who is not let in any more signs in again over the page; a key is dropped.
 */
export const asHolder = <Done>(
  id: OperationId,
  repository: string | undefined,
  work: (secret: string | null) => Promise<Done>,
): Promise<Done> => {
  const allowed = may(id, repository)
  return workAs(allowed.may ? allowed.as : state.session, id, work)
}

const workAs = async <Done>(
  holder: Holder | null,
  id: OperationId,
  work: (secret: string | null) => Promise<Done>,
): Promise<Done> => {
  const key = holder === null || holder.id === 'session' ? null : holder
  const secret = key?.secret ?? session()?.token ?? null
  try {
    return await work(secret)
  } catch (error) {
    if (!isProblem(error) || error.status !== 401 || id === 'changePassword') throw error
    // A late answer to the session before this one says nothing of this one.
    if (key === null && secret === session()?.token) sessionOver()
    if (key !== null) set({ keys: state.keys.filter((each) => each.id !== key.id) })
    throw error
  }
}

/** Asks the service as one of this tab: where each is told something else. */
export const askAs = <Id extends OperationId>(
  holder: Holder,
  id: Id,
  given: Given<Id>,
  signal: AbortSignal,
): Promise<Answer<Id>> => workAs(holder, id, (secret) => call(id, given, secret, signal))

/** Asks the service as whoever of this tab may. */
export const ask = <Id extends OperationId>(id: Id, given: Given<Id>, signal?: AbortSignal): Promise<Answer<Id>> => {
  const { path, query }: AnyGiven = given
  const repository =
    path?.['repository'] ?? (typeof query?.['repository'] === 'string' ? query['repository'] : undefined)
  return asHolder(id, repository, (secret) => call(id, given, secret, signal))
}
