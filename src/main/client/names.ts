import { distance } from 'fastest-levenshtein'
import { caseless } from '../../kernel/names.ts'
import { CommandFailed } from './command-failed.ts'

interface Named {
  readonly id: string
  readonly name: string
}

const similar = (text: string, names: readonly string[]): string[] => {
  const wanted = caseless(text)
  return names
    .map((name) => ({ name, away: caseless(name).startsWith(wanted) ? 1 : distance(wanted, caseless(name)) }))
    .filter(({ name, away }) => away <= Math.max(2, Math.floor(name.length / 3)))
    .sort((one, other) => one.away - other.away)
    .slice(0, 3)
    .map(({ name }) => name)
}

/** That nobody is called so, and who is called nearly so. */
export const unknown = (what: string, text: string, names: readonly string[]): CommandFailed => {
  const near = similar(text, names)
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`
  return new CommandFailed('unknownName', `There is no ${what} ${JSON.stringify(text)}.${hint}`)
}

/**
 * The one that is called so, by id or by name without regard to case. Throws where there is none, and where there are
 * several. An id means whose it is, whatever somebody else is called.
 */
export const theOne = <T extends Named>(what: string, text: string, all: readonly T[]): T => {
  const found = all.filter(({ id, name }) => id === text || caseless(name) === caseless(text))
  const [only, other] = found.some(({ id }) => id === text) ? found.filter(({ id }) => id === text) : found
  if (only === undefined)
    throw unknown(
      what,
      text,
      all.map(({ name }) => name),
    )
  if (other === undefined) return only
  const candidates = found.map(({ id, name }) => `${name} (${id})`).join(', ')
  throw new CommandFailed('unknownName', `More than one ${what} is called ${text}: ${candidates}. Say which by its id.`)
}
