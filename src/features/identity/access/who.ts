import { inOrder, type RepositoryAction } from '../../../kernel/actions.ts'
import { notFound } from '../../../kernel/failure.ts'
import { serviceAccountPageMax } from '../../../kernel/limits/identity.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { repositoryWith } from '../../catalog/repositories/repositories.ts'
import { accountsThatReach } from '../groups/groups.ts'
import { type ExplainDeps, type Explanation, giving, mayDo, once, shownSubject } from './explain.ts'
import { type Standing, standingsOf, type Through } from './standing.ts'
import { enabledServiceAccounts } from './subjects.queries.ts'
import { accountSubject, keySubject, type Subject, serviceSubject } from './subjects.ts'

/** Somebody who may do something in a repository, all of what it may there, and what gives it. */
export interface Holder {
  readonly who: Explanation['caller']
  readonly actions: RepositoryAction[]
  readonly through: Through[]
}

export interface Wanted {
  readonly repository: string
  /** Only those who may do this. */
  readonly action?: RepositoryAction | undefined
  /** Kind and id of the last one of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Those who may be holders, after an id and ordered by id; a few at a time. */
type Candidates = (after: string) => Promise<readonly Subject[]>

/** Everybody of all kinds beyond the cursor, in the order of pages. */
async function* everybody(
  kinds: readonly (readonly [Subject['kind'], Candidates])[],
  cursor: string,
): AsyncGenerator<Subject> {
  const [kindBefore = '', ...rest] = cursor.split(':')
  const from = kinds.findIndex(([kind]) => kind === kindBefore)
  for (const [at, [, candidates]] of kinds.entries()) {
    if (at < from) continue
    let after = at === from ? rest.join(':') : ''
    for (;;) {
      const some = await candidates(after)
      yield* some
      if (some.length < serviceAccountPageMax) break
      after = some.at(-1)?.id ?? ''
    }
  }
}

/**
 * Who may do what in a repository at this moment: people, then service accounts, then keys of the keys file, each
 * ordered by id. What each may, the one decision says. 404 for a repository that does not exist.
 */
export const whoMay = ({ database, clock, fileKeys }: ExplainDeps, wanted: Wanted): Promise<Page<Holder>> =>
  database.snapshot(async (q) => {
    const { repository, action, after = '', limit } = wanted
    if ((await repositoryWith(q, repository)) === null) throw notFound('repository')
    const keys = fileKeys
      .filter((key) => key.repositories.has(repository))
      .sort((one, other) => order(one.id, other.id))
    const page = serviceAccountPageMax
    const kinds: readonly (readonly [Subject['kind'], Candidates])[] = [
      ['account', async (from) => (await accountsThatReach(q, repository, from, page)).map(accountSubject)],
      ['service-account', async (from) => (await enabledServiceAccounts(q, from, page)).map(serviceSubject)],
      [
        'key',
        async (from) =>
          keys
            .filter(({ id }) => id > from)
            .slice(0, page)
            .map(keySubject),
      ],
    ]
    const found: Holder[] = []
    for await (const subject of everybody(kinds, after)) {
      const standings = await standingsOf(q, subject, repository, clock.now())
      const holder = holderOf(subject, standings, action)
      if (holder !== null && found.push(holder) > limit) break
    }
    return pageOf(
      found,
      limit,
      (holder) => holder,
      ({ who }) => `${who.kind}:${who.id}`,
    )
  })

const order = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

const holderOf = (
  subject: Subject,
  standings: readonly Standing[],
  action: RepositoryAction | undefined,
): Holder | null => {
  const passing = standings.filter(
    (standing) => standing.actions.size > 0 && (action === undefined || mayDo(standing, action)),
  )
  if (passing.length === 0) return null
  const actions = new Set(passing.flatMap((standing) => [...standing.actions]))
  const through = passing.flatMap((standing) => (action === undefined ? standing.through : giving(standing, action)))
  return { who: shownSubject(subject), actions: inOrder(actions), through: once(through) }
}
