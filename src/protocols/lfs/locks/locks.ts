import { hash } from 'node:crypto'
import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { LfsLocksTable } from '../../../database/tables/lfs.ts'
import { namesOf } from '../../../journal/names.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { newId } from '../../../kernel/ids.ts'
import {
  lockPathMaxCharacters,
  locksMax,
  locksPageBytes,
  locksPageDefault,
  locksPageMax,
  locksReadAtOnce,
} from '../../../kernel/limits/lfs.ts'
import { isUuid, patterns } from '../../../kernel/names.ts'
import { countLocks, deleteLock, findLock, insertLock, lockAt, lockRows } from './locks.queries.ts'
import { locksAreOn } from './settings.ts'
import type { Lock } from './vocabulary.ts'

/**
 * Locks of files, so that two people do not change one that cannot be merged. They are about a Git repository: each
 * address behind a repository has its own. Nothing here refuses a push for them: clients do, after they have asked.
 */
export interface LockScope {
  readonly repository: string
  readonly subPath: string
  /** Who asks. */
  readonly owner: string
}

export interface LockDeps {
  readonly database: Database
  readonly clock: Clock
  readonly reach: ReachFaultPoint
}

/** 404 where the repository has no locks: clients push without them then. */
const refuseWithoutLocks = async (q: Queries, repository: string): Promise<void> => {
  if (!(await locksAreOn(q, repository)))
    throw new Failure('not_found', `Locks are switched off in the repository ${repository}.`)
}

const digestOf = ({ subPath }: LockScope, path: string): string => hash('sha256', JSON.stringify([subPath, path]))

/**
 * Locks a file, and answers the lock; or the one that is there, whoever has it. 422 for what is no path in a Git
 * repository, 507 `lock_limit`.
 */
export const createLock = async (
  { database, clock, reach }: LockDeps,
  scope: LockScope,
  path: string,
): Promise<{ readonly lock: Lock; readonly created: boolean }> => {
  refusePath(path)
  const digest = digestOf(scope, path)
  const { row, created } = await database.transaction(async (tx) => {
    await lockScope(tx, scope)
    const there = await lockAt(tx, scope.repository, digest)
    if (there !== undefined) return { row: there, created: false }
    if ((await countLocks(tx, scope.repository, locksMax)) >= locksMax)
      throw new Failure('lock_limit', `The repository has ${locksMax} locks, which is as many as one may. Unlock some.`)
    const nowMs = clock.now()
    const row: LfsLocksTable = {
      id: newId(nowMs),
      repository: scope.repository,
      sub_path: scope.subPath,
      path,
      digest,
      locked_at: timestamp(nowMs),
      actor: scope.owner,
    }
    await insertLock(tx, row)
    await tell(tx, 'lock.create', scope, row)
    reach('lock.told')
    return { row, created: true }
  })
  if (created) reach('lock.committed')
  return { lock: await shownLock(database.reader, row), created }
}

const lockScope = async (tx: Transaction, { repository }: LockScope): Promise<void> => {
  if (!(await lockRepository(tx, repository))) throw notFound('repository')
  await refuseWithoutLocks(tx, repository)
}

const plainText = new RegExp(patterns.text, 'u')

const refusePath = (path: string): void => {
  const isOne = plainText.test(path) && path !== '' && path.length <= lockPathMaxCharacters && !path.startsWith('/')
  if (!isOne)
    throw invalid('/path', `must be a path in the Git repository, of at most ${lockPathMaxCharacters} characters`)
}

/**
 * Unlocks a file, and answers the lock that it had. 404 without one, 403 for one that another has unless `force` says
 * that this is meant.
 */
export const removeLock = async (deps: LockDeps, scope: LockScope, id: string, force: boolean): Promise<Lock> => {
  const q = deps.database.reader
  const row = await deps.database.transaction(async (tx) => {
    await lockScope(tx, scope)
    const there = isUuid(id) ? await findLock(tx, scope.repository, id) : undefined
    if (there === undefined || there.sub_path !== scope.subPath)
      throw new Failure('not_found', 'There is no such lock; somebody has taken it away, or never made it.')
    const isOurs = there.actor === scope.owner
    if (!isOurs && !force) throw await ofAnother(tx, there)
    await deleteLock(tx, there.id)
    await tell(tx, isOurs ? 'lock.remove' : 'lock.break', scope, { ...there, locked_at: timestamp(deps.clock.now()) })
    deps.reach('lock.told')
    return there
  })
  deps.reach('lock.committed')
  return shownLock(q, row)
}

const ofAnother = async (q: Queries, row: LfsLocksTable): Promise<Failure> => {
  const { path, locked_at, owner } = await shownLock(q, row)
  return new Failure(
    'permission_missing',
    `${path} has been locked by ${owner.name} since ${locked_at}. Unlock it with --force if that is over.`,
  )
}

const tell = (
  tx: Transaction,
  action: 'lock.break' | 'lock.create' | 'lock.remove',
  { repository, owner }: LockScope,
  { id, sub_path, path, locked_at }: LfsLocksTable,
): Promise<void> =>
  appendJournal(tx, {
    ...{ repository, action, artifactId: id, actor: owner, occurredAt: locked_at },
    detail: sub_path === '' ? path : `${sub_path}:${path}`,
  })

/** As clients show it: the name of an account, of which a service key's is that of its account. */
const shown = (row: LfsLocksTable, nameOf: (called: string) => string | null): Lock => ({
  id: row.id,
  path: row.path,
  locked_at: row.locked_at,
  owner: { name: nameOf(row.actor) ?? row.actor },
})

const shownLock = async (q: Queries, row: LfsLocksTable): Promise<Lock> => shown(row, await namesOf(q, [row.actor]))

/** What a list of locks is asked for: an exact path or id, or a page behind a cursor. */
export interface AskedLocks {
  readonly path?: string | undefined
  readonly id?: string | undefined
  readonly cursor?: string | undefined
  readonly limit?: number | undefined
}

interface LockPage {
  readonly locks: readonly (Lock & { readonly isOurs: boolean })[]
  readonly next: string | null
}

/**
 * A page of locks, the newest first, so that none is told twice or left out when another is made meanwhile. It ends
 * earlier where their paths are long. 422 for a cursor that is none.
 */
export const locksOf = async (q: Queries, scope: LockScope, asked: AskedLocks): Promise<LockPage> => {
  const { repository, owner } = scope
  await refuseWithoutLocks(q, repository)
  const { path, id, cursor } = asked
  if (cursor !== undefined && !isUuid(cursor)) throw invalid('/cursor', 'must be the next_cursor of a page')
  const limit = Math.min(Math.max(asked.limit ?? locksPageDefault, 1), locksPageMax)
  const { page, isLast } = await (path === undefined && id === undefined
    ? pageBehind(q, scope, cursor ?? null, limit)
    : exactly(q, scope, { path, id }))
  const nameOf = await namesOf(
    q,
    page.map(({ actor }) => actor),
  )
  return {
    locks: page.map((row) => ({ ...shown(row, nameOf), isOurs: row.actor === owner })),
    next: isLast ? null : (page.at(-1)?.id ?? null),
  }
}

interface Rows {
  readonly page: readonly LfsLocksTable[]
  readonly isLast: boolean
}

const pageBehind = async (q: Queries, scope: LockScope, cursor: string | null, limit: number): Promise<Rows> => {
  const page: LfsLocksTable[] = []
  let bytes = 0
  for (;;) {
    const wanted = Math.min(locksReadAtOnce, limit - page.length)
    const rows = await lockRows(q, scope, page.at(-1)?.id ?? cursor, wanted + 1)
    for (const row of rows.slice(0, wanted)) {
      bytes += Buffer.byteLength(row.path)
      if (bytes > locksPageBytes && page.length > 0) return { page, isLast: false }
      page.push(row)
    }
    if (rows.length <= wanted) return { page, isLast: true }
    if (page.length >= limit) return { page, isLast: false }
  }
}

const exactly = async (q: Queries, scope: LockScope, { path, id }: Pick<AskedLocks, 'path' | 'id'>): Promise<Rows> => {
  const found =
    path !== undefined
      ? await lockAt(q, scope.repository, digestOf(scope, path))
      : isUuid(id ?? '')
        ? await findLock(q, scope.repository, id ?? '')
        : undefined
  const fits = found?.sub_path === scope.subPath && (id === undefined || found.id === id)
  return { page: found !== undefined && fits ? [found] : [], isLast: true }
}
