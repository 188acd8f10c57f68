import { moveCounter } from '../../../database/counters.queries.ts'
import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import type { Access } from '../../../kernel/actions.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { grantsMax, groupsMax, membershipsMax } from '../../../kernel/limits/identity.ts'
import { caseless } from '../../../kernel/names.ts'
import { requireAccount } from '../sessions/sessions.ts'
import {
  accessByRepository,
  accessRows,
  accountsWithAccess,
  deleteGrant,
  deleteGroupRows,
  deleteMember,
  findGrant,
  findGroupByNameKey,
  findGroupRow,
  grantsOfGroups,
  groupsGiving,
  insertGroup,
  insertMember,
  listGroupRows,
  lockGroup,
  membersOf,
  putGrant,
} from './groups.queries.ts'

/** People get access to repositories through groups, and in no other way. */
export interface GroupDeps {
  readonly database: Database
  readonly clock: Clock
}

export interface Group {
  readonly id: string
  readonly name: string
  readonly members: string[]
  /** The members with their names. */
  readonly accounts: { id: string; name: string }[]
  readonly grants: { repository: string; access: Access }[]
}

/** The group of the first owner and what it may write to. */
const owners = { name: 'svc-owners', repository: 'releases' } as const

const withContents = async (q: Queries, rows: { id: string; name: string }[]): Promise<Group[]> => {
  const ids = rows.map((row) => row.id)
  if (ids.length === 0) return []
  const groups = new Map<string, Group>(rows.map((row) => [row.id, { ...row, members: [], accounts: [], grants: [] }]))
  for (const { group_id, account_id, name } of await membersOf(q, ids)) {
    groups.get(group_id)?.members.push(account_id)
    groups.get(group_id)?.accounts.push({ id: account_id, name })
  }
  for (const { group_id, repository, access } of await grantsOfGroups(q, ids))
    groups.get(group_id)?.grants.push({ repository, access })
  return [...groups.values()]
}

export const allGroups = ({ database }: GroupDeps): Promise<Group[]> =>
  database.snapshot(async (q) => withContents(q, await listGroupRows(q, groupsMax)))

export const groupById = ({ database }: GroupDeps, id: string): Promise<Group> =>
  database.snapshot(async (q) => {
    const row = await findGroupRow(q, id)
    const [group] = await withContents(q, row === undefined ? [] : [row])
    if (group === undefined) throw notFound('group')
    return group
  })

/** Creates an empty group. 409 `already_exists` for a taken name, 507 `group_limit` at 100. */
export const createGroup = ({ database, clock }: GroupDeps, name: string, actor: Actor): Promise<Group> =>
  changeAuthority(database, actor, async (tx) => {
    const id = await newGroup(tx, name, actor, clock.now())
    if (id === null) throw new Failure('already_exists', `A group named ${JSON.stringify(name)} exists.`)
    return { id, name, members: [], accounts: [], grants: [] }
  })

const newGroup = async (tx: Transaction, name: string, actor: Actor, nowMs: number): Promise<string | null> => {
  const count = await moveCounter(tx, 'groups', 1)
  const id = newId(nowMs)
  const occurredAt = timestamp(nowMs)
  if (!(await insertGroup(tx, { id, name, name_key: caseless(name), created_at: occurredAt }))) return null
  if (count > groupsMax) throw new Failure('group_limit', `The server has its ${groupsMax} groups already.`)
  await tell(tx, actor, { id, name }, { action: 'create', occurredAt })
  return id
}

/** Deletes a group; its members lose what it gave them at once. */
export const deleteGroup = ({ database, clock }: GroupDeps, id: string, actor: Actor): Promise<void> =>
  changeAuthority(database, actor, async (tx) => {
    // The lock keeps others from adding to a group that is half deleted.
    const group = await existing(tx, id)
    const gone = await deleteGroupRows(tx, id)
    await moveCounter(tx, 'groups', -1)
    await moveCounter(tx, 'memberships', -gone.memberships)
    await moveCounter(tx, 'grants', -gone.grants)
    const occurredAt = timestamp(clock.now())
    await tell(tx, actor, group, { action: 'delete', occurredAt })
  })

interface GroupRow {
  readonly id: string
  readonly name: string
}

const existing = async (tx: Transaction, groupId: string): Promise<GroupRow> => {
  const row = await lockGroup(tx, groupId)
  if (row === undefined) throw notFound('group')
  return row
}

/** Tells the security audit what was done to a group, with its name, which goes with the group. */
const tell = (
  tx: Transaction,
  actor: Actor,
  { id, name }: GroupRow,
  { action, on, occurredAt }: { readonly action: string; readonly on?: string; readonly occurredAt: string },
): Promise<void> =>
  appendSecurityAudit(tx, actor, {
    action: `group.${action}`,
    subject: on === undefined ? `group:${id}` : `group:${id} ${on}`,
    subjectName: name,
    occurredAt,
  })

/** Makes an account a member. Harmless when it is one. 507 `membership_limit` at 10,000 on the server. */
export const addMember = (deps: GroupDeps, groupId: string, accountId: string, actor: Actor): Promise<void> =>
  changeAuthority(deps.database, actor, async (tx) => {
    const group = await existing(tx, groupId)
    await requireAccount(tx, accountId)
    await join(tx, group, accountId, actor, deps.clock.now())
  })

const join = async (
  tx: Transaction,
  group: GroupRow,
  accountId: string,
  actor: Actor,
  nowMs: number,
): Promise<void> => {
  if (!(await insertMember(tx, group.id, accountId))) return
  const count = await moveCounter(tx, 'memberships', 1)
  if (count > membershipsMax)
    throw new Failure('membership_limit', `The server has its ${membershipsMax} memberships already.`)
  await tell(tx, actor, group, { action: 'add-member', on: `account:${accountId}`, occurredAt: timestamp(nowMs) })
}

/** Ends a membership. Harmless when there is none. */
export const removeMember = (deps: GroupDeps, groupId: string, accountId: string, actor: Actor): Promise<void> =>
  changeAuthority(deps.database, actor, async (tx) => {
    const group = await existing(tx, groupId)
    if (!(await deleteMember(tx, groupId, accountId))) return
    await moveCounter(tx, 'memberships', -1)
    const occurredAt = timestamp(deps.clock.now())
    await tell(tx, actor, group, { action: 'remove-member', on: `account:${accountId}`, occurredAt })
  })

/** Sets what a group may do in a repository. 507 `grant_limit` at 10,000 on the server. */
export const setGrant = (
  deps: GroupDeps,
  groupId: string,
  repository: string,
  access: Access,
  actor: Actor,
): Promise<void> =>
  changeAuthority(deps.database, actor, async (tx) => {
    const group = await existing(tx, groupId)
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    await grant(tx, group, repository, access, actor, deps.clock.now())
  })

const grant = async (
  tx: Transaction,
  group: GroupRow,
  repository: string,
  access: Access,
  actor: Actor,
  nowMs: number,
): Promise<void> => {
  const before = await findGrant(tx, group.id, repository)
  if (before?.access === access) return
  await putGrant(tx, group.id, repository, access)
  if (before === undefined && (await moveCounter(tx, 'grants', 1)) > grantsMax)
    throw new Failure('grant_limit', `The server has its ${grantsMax} grants already.`)
  const occurredAt = timestamp(nowMs)
  await tell(tx, actor, group, { action: `grant-${access}`, on: `repository:${repository}`, occurredAt })
}

/** Takes a grant away. Harmless when there is none. */
export const removeGrant = (deps: GroupDeps, groupId: string, repository: string, actor: Actor): Promise<void> =>
  changeAuthority(deps.database, actor, async (tx) => {
    const group = await existing(tx, groupId)
    if (!(await deleteGrant(tx, groupId, repository))) return
    await moveCounter(tx, 'grants', -1)
    const occurredAt = timestamp(deps.clock.now())
    await tell(tx, actor, group, { action: 'remove-grant', on: `repository:${repository}`, occurredAt })
  })

/** The first account joins the owners, who may write to `releases`. */
export const makeOwner = async (tx: Transaction, accountId: string, actor: Actor, nowMs: number): Promise<void> => {
  const known = await findGroupByNameKey(tx, caseless(owners.name))
  const groupId = known?.id ?? (await newGroup(tx, owners.name, actor, nowMs))
  if (groupId === null) throw new Error('the owners group was neither found nor made')
  const group = { id: groupId, name: known?.name ?? owners.name }
  await join(tx, group, accountId, actor, nowMs)
  if (await lockRepository(tx, owners.repository)) await grant(tx, group, owners.repository, 'write', actor, nowMs)
}

/** The strongest access that an account's groups give it on a repository. */
export const accountAccess = async (q: Queries, accountId: string, repository: string): Promise<Access | null> => {
  const rows = await accessRows(q, { accountId, repository })
  if (rows.length === 0) return null
  return rows.some((row) => row.access === 'write') ? 'write' : 'read'
}

/** All repositories an account has access to after a given id, ordered by id. */
export const accountGrants = (
  q: Queries,
  accountId: string,
  after: string,
  limit: number,
): Promise<{ repository: string; access: Access }[]> => accessByRepository(q, accountId, after, limit)

/** The groups through which an account has access to a repository, with what each gives, ordered by name. */
export const accessThroughGroups = groupsGiving

/** Enabled accounts with access to a repository after an id, ordered by id. */
export const accountsThatReach = accountsWithAccess
