import type { Queries } from '../../../database/database.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { caseless } from '../../../kernel/names.ts'
import type { FileKey } from './file-keys.ts'
import { accountsCalled, serviceAccountsCalled } from './subjects.queries.ts'

/** Somebody who may be asked about: the words of their kind begin the name of the actor in journals as well. */
export type Subject =
  | {
      readonly kind: 'account'
      readonly id: string
      readonly name: string
      readonly enabled: boolean
      readonly administrator: boolean
    }
  | { readonly kind: 'service-account'; readonly id: string; readonly name: string; readonly enabled: boolean }
  | { readonly kind: 'key'; readonly id: string; readonly name: string; readonly key: FileKey }

export const accountSubject = (row: {
  readonly id: string
  readonly name: string
  readonly enabled: number
  readonly administrator: number
}): Subject => ({
  kind: 'account',
  id: row.id,
  name: row.name,
  enabled: row.enabled === 1,
  administrator: row.administrator === 1,
})

export const serviceSubject = (row: {
  readonly id: string
  readonly name: string
  readonly enabled: number
}): Subject => ({ kind: 'service-account', id: row.id, name: row.name, enabled: row.enabled === 1 })

export const keySubject = (key: FileKey): Subject => ({ kind: 'key', id: key.id, name: key.id, key })

const kinds: readonly Subject['kind'][] = ['account', 'service-account', 'key']

/** `account:ann` means the account alone, `ann` whoever is called so. */
const withKind = (text: string): { readonly kind: Subject['kind'] | null; readonly called: string } => {
  const kind = kinds.find((each) => text.startsWith(`${each}:`))
  return kind === undefined ? { kind: null, called: text } : { kind, called: text.slice(kind.length + 1) }
}

/**
 * Whoever is called so, by id or by name without regard to case. An id means whose it is, whatever somebody else is
 * called; that of a key of the keys file is its name. 404 for nobody; 400 where two are, which names them in the form
 * that tells them apart.
 */
export const subjectCalled = async (q: Queries, keys: readonly FileKey[], text: string): Promise<Subject> => {
  const { kind, called } = withKind(text)
  const found: Subject[] = [
    ...(await accountsCalled(q, called.toLowerCase(), caseless(called))).map(accountSubject),
    ...(await serviceAccountsCalled(q, called.toLowerCase(), caseless(called))).map(serviceSubject),
    ...keys.filter(({ id }) => id === called).map(keySubject),
  ].filter((subject) => kind === null || subject.kind === kind)
  const byId = found.filter((subject) => subject.kind !== 'key' && subject.id === called.toLowerCase())
  const [only, other] = byId.length > 0 ? byId : found
  if (only === undefined) throw notFound('caller')
  if (other === undefined) return only
  const names = found.map((subject) => `${subject.kind}:${subject.name}`)
  throw invalid('/query/caller', `must say which is meant: ${names.join(' or ')}`)
}
