import type { Queries } from '../database/database.ts'
import { isUuid } from '../kernel/names.ts'
import { type Named, namesIn } from './names.queries.ts'

/** Where the names are of what journals call `<kind>:<id>`. */
const tables: Readonly<Record<string, Named>> = {
  account: 'accounts',
  'service-account': 'service_accounts',
  group: 'access_groups',
  key: 'service_keys',
  'operator-key': 'service_keys',
}

/** The kind and the id in what a journal calls somebody or something. */
const partsOf = (called: string): { readonly kind: string; readonly id: string } => {
  const at = called.indexOf(':')
  return { kind: called.slice(0, Math.max(at, 0)), id: called.slice(at + 1) }
}

/**
 * What people call those that journals call `<kind>:<id>`, as they are called now. Keys of the keys file and
 * repositories are called by their id, and what has no kind, such as `operator`, by itself. Null where nobody knows: a
 * group that was deleted, a link.
 */
export const namesOf = async (
  q: Queries,
  called: readonly (string | null)[],
): Promise<(called: string | null) => string | null> => {
  const ids = new Map<Named, Set<string>>()
  for (const one of called) {
    const { kind, id } = partsOf(one ?? '')
    const table = tables[kind]
    if (table !== undefined && isUuid(id)) ids.set(table, (ids.get(table) ?? new Set()).add(id))
  }
  const names = new Map<string, string>()
  for (const [table, those] of ids)
    for (const { id, name } of await namesIn(q, table, [...those])) names.set(`${table}:${id}`, name)
  return (one) => {
    if (one === null) return null
    const { kind, id } = partsOf(one)
    if (isUuid(id)) return names.get(`${tables[kind]}:${id}`) ?? null
    return kind === '' || kind === 'key' || kind === 'repository' ? id : null
  }
}

/** Lines of a list with the names of those who did what they tell. */
export const withActorNames = async <Line extends { readonly actor: string | null }>(
  q: Queries,
  lines: readonly Line[],
): Promise<(Line & { actorName: string | null })[]> => {
  const nameOf = await namesOf(
    q,
    lines.map(({ actor }) => actor),
  )
  return lines.map((line) => ({ ...line, actorName: nameOf(line.actor) }))
}

/** The same of a page. */
export const pageWithActorNames = async <Line extends { readonly actor: string | null }, Next>(
  q: Queries,
  { items, next }: { readonly items: readonly Line[]; readonly next: Next },
) => ({ items: await withActorNames(q, items), next })

/** A line of a security audit, with what the first of its subjects was called then, if its name may go with it. */
interface AuditLine {
  readonly actor: string
  readonly subject: string
  readonly subjectName?: string | null
}

/**
 * Lines of a security audit with the names of those who acted, and of whom and what they acted on; of what is gone the
 * last one that is known.
 */
export const withAllNames = async <Line extends AuditLine>(q: Queries, lines: readonly Line[]) => {
  const subjectsOf = ({ subject }: Line): string[] => subject.split(' ')
  const nameOf = await namesOf(
    q,
    lines.flatMap((line) => [line.actor, ...subjectsOf(line)]),
  )
  return lines.map((line) => {
    const { subjectName: then = null, ...shown } = line
    const named = (called: string, at: number) => nameOf(called) ?? (at === 0 ? then : null)
    return {
      ...shown,
      actorName: nameOf(line.actor),
      subjects: subjectsOf(line).map((called, at) => ({ ...partsOf(called), name: named(called, at) })),
    }
  })
}
