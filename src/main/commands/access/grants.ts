import { hash } from 'node:crypto'
import * as groups from '../../../features/identity/groups/operations.ts'
import type { Access } from '../../../kernel/actions.ts'
import { groupNameMaxCharacters } from '../../../kernel/limits/identity.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import { connect } from '../../client/connect.ts'
import { theOne, unknown } from '../../client/names.ts'
import type { Service } from '../../client/service.ts'
import { type OutputOptions, tell } from '../output.ts'
import { allGroups, type Group } from './groups.ts'
import { requireRepository } from './repositories.ts'
import { allUsers } from './users.ts'

/** What a command did, and whom it concerns; JSON shows it as it is. */
interface Outcome {
  readonly who: string
  readonly repository: string
  /** What is had now. */
  readonly access: Access | null
  /** Through which groups. */
  readonly through: readonly string[]
  readonly done: readonly string[]
}

interface Person {
  readonly id: string
  readonly name: string
}

interface Ask {
  readonly service: Service
  readonly repository: string
}

/** A user or a group: `user:ann` and `group:ann` tell two of one name apart. */
const whoIs = async (service: Service, text: string): Promise<{ user: Person } | { group: Group }> => {
  const [, kind, name = text] = /^(user|group):(.*)$/s.exec(text) ?? []
  const users = (kind === 'group' ? [] : await allUsers(service)).map((user) => ({ ...user, kind: 'user' as const }))
  const all = (kind === 'user' ? [] : await allGroups(service)).map((group) => ({ ...group, kind: 'group' as const }))
  const everybody = [...users, ...all]
  const withId = everybody.filter(({ id }) => id === name)
  const found = withId.length > 0 ? withId : everybody.filter((each) => same(each.name, name))
  if (found.length === 0)
    throw unknown(
      kind ?? 'user or group',
      name,
      everybody.map((each) => each.name),
    )
  if (found.length > 1)
    throw new CommandFailed(
      'unknownName',
      `A user and a group are called ${name}. Say which: user:${name} or group:${name}.`,
    )
  const one = theOne('user or group', name, found)
  return one.kind === 'user' ? { user: one } : { group: one }
}

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

const grantIn = ({ grants }: Group, repository: string): Access | null =>
  grants.find((grant) => grant.repository === repository)?.access ?? null

/** Groups through which a user has access; with write, those through which it may write. */
const waysOf = (all: readonly Group[], user: Person, repository: string, access: Access): Group[] =>
  all.filter((group) => {
    const has = grantIn(group, repository)
    return group.members.includes(user.id) && has !== null && (access === 'read' || has === 'write')
  })

/** A long id is cut so that the name is one of a group, with a part of its digest: no two ids have one group. */
const groupFor = (repository: string, access: Access): string => {
  const end = access === 'write' ? '-writers' : '-readers'
  if (repository.length + end.length <= groupNameMaxCharacters) return repository + end
  const digest = `-${hash('sha256', repository).slice(0, 16)}`
  return repository.slice(0, groupNameMaxCharacters - digest.length - end.length) + digest + end
}

/** People get access through groups alone: this one gives exactly what was asked for, and nothing else. */
const putInto = async ({ service, repository }: Ask, user: Person, access: Access): Promise<string[]> => {
  const name = groupFor(repository, access)
  const known = (await allGroups(service)).find((group) => same(group.name, name))
  const done: string[] = []
  const more = known?.grants.some((grant) => grant.repository !== repository || grant.access !== access) === true
  if (more)
    throw new CommandFailed(
      'failed',
      `The group ${name} grants something else than ${access} on ${repository}. Choose a group yourself: svc group list`,
    )
  // Who was left in it when its grant was taken away is not let in again by the way.
  if (known !== undefined && known.grants.length === 0 && known.members.some((member) => member !== user.id))
    throw new CommandFailed(
      'failed',
      `The group ${name} grants nothing and has members, who would get ${access} on ${repository} as well. Take them out (svc group remove-member) or remove it (svc group remove ${name}), or grant it to all of them: svc grant group:${name} ${repository} ${access}`,
    )
  const group = known ?? (await service.call(groups.createAccessGroup, { body: { name } }))
  if (known === undefined) done.push(`created the group ${name}`)
  if (grantIn(group, repository) === null) {
    await service.call(groups.setAccessGroupGrant, { path: { id: group.id, repository }, body: { access } })
    done.push(`granted it ${access} on ${repository}`)
  }
  await service.call(groups.addAccessGroupMember, { path: { id: group.id, userId: user.id } })
  return [...done, `made ${user.name} a member of ${name}`]
}

export const grant = async (who: string, repository: string, access: Access, options: OutputOptions): Promise<void> => {
  const ask = { service: connect(), repository }
  await requireRepository(ask.service, repository)
  const found = await whoIs(ask.service, who)
  const done = 'group' in found ? await grantGroup(ask, found.group, access) : await grantUser(ask, found.user, access)
  await report(ask, found, done, options)
}

const grantGroup = async ({ service, repository }: Ask, group: Group, access: Access): Promise<string[]> => {
  const has = grantIn(group, repository)
  if (has === access) return []
  await service.call(groups.setAccessGroupGrant, { path: { id: group.id, repository }, body: { access } })
  return [`granted ${group.name} ${access} on ${repository}${has === null ? '' : ` instead of ${has}`}`]
}

const grantUser = async (ask: Ask, user: Person, access: Access): Promise<string[]> =>
  waysOf(await allGroups(ask.service), user, ask.repository, access).length > 0 ? [] : putInto(ask, user, access)

/** Takes write, and leaves read; or takes both. */
export const revoke = async (
  who: string,
  repository: string,
  access: Access,
  options: OutputOptions,
): Promise<void> => {
  const ask = { service: connect(), repository }
  await requireRepository(ask.service, repository)
  const found = await whoIs(ask.service, who)
  const done =
    'group' in found ? await revokeGroup(ask, found.group, access) : await revokeUser(ask, found.user, access)
  await report(ask, found, done, options)
}

const revokeGroup = async ({ service, repository }: Ask, group: Group, access: Access): Promise<string[]> => {
  const has = grantIn(group, repository)
  const path = { id: group.id, repository }
  if (has === null || (access === 'write' && has === 'read')) return []
  if (access === 'write') {
    await service.call(groups.setAccessGroupGrant, { path, body: { access: 'read' } })
    return [`left ${group.name} read on ${repository} instead of write`]
  }
  await service.call(groups.removeAccessGroupGrant, { path })
  return [`took the grant on ${repository} from ${group.name}`]
}

/**
 * Only out of the groups that `grant` makes: other groups are for other things as well, and somebody else's to change.
 */
const revokeUser = async (ask: Ask, user: Person, access: Access): Promise<string[]> => {
  const { service, repository } = ask
  const made = [groupFor(repository, 'write'), groupFor(repository, 'read')]
  const ways = waysOf(await allGroups(service), user, repository, access)
  const others = ways.filter(({ name, grants }) => grants.length > 1 || !made.some((each) => same(each, name)))
  if (others.length > 0) {
    const [first] = others
    throw new CommandFailed(
      'failed',
      `${user.name} may ${access} in ${repository} through the group ${others.map(({ name }) => name).join(', ')}, which may be for more than this; nothing was changed. End the membership (svc group remove-member ${first?.name} ${user.name}) or take the grant from the group (svc revoke group:${first?.name} ${repository} ${access}).`,
    )
  }
  const done: string[] = []
  for (const group of ways) {
    await service.call(groups.removeAccessGroupMember, { path: { id: group.id, userId: user.id } })
    done.push(`took ${user.name} out of ${group.name}`)
  }
  const reads = waysOf(await allGroups(service), user, repository, 'read').length > 0
  return access === 'read' || reads || ways.length === 0 ? done : [...done, ...(await putInto(ask, user, 'read'))]
}

const report = async (
  { service, repository }: Ask,
  found: { user: Person } | { group: Group },
  done: readonly string[],
  options: OutputOptions,
): Promise<void> => {
  const all = await allGroups(service)
  const now = (access: Access): Group[] =>
    'group' in found
      ? all.filter(
          (group) =>
            group.id === found.group.id &&
            (grantIn(group, repository) === 'write' || (access === 'read' && grantIn(group, repository) === 'read')),
        )
      : waysOf(all, found.user, repository, access)
  const access = now('write').length > 0 ? 'write' : now('read').length > 0 ? 'read' : null
  const who = 'group' in found ? found.group.name : found.user.name
  const through = access === null ? [] : now(access).map(({ name }) => name)
  const outcome: Outcome = { who, repository, access, through, done }
  const did =
    done.length === 0 ? 'Nothing was to be done.' : `${done.join(', ').replace(/^./, (c) => c.toUpperCase())}.`
  const has =
    access === null
      ? `${who} may do nothing in ${repository}.`
      : `${who} may ${access === 'write' ? 'read and write' : 'read'} in ${repository}${'user' in found ? `, through the group ${through.join(', ')}` : ''}.`
  tell(options, outcome, did, has)
}
