import type { Static } from 'typebox'
import * as groups from '../../../features/identity/groups/operations.ts'
import { connect } from '../../client/connect.ts'
import { theOne } from '../../client/names.ts'
import type { Service } from '../../client/service.ts'
import { type OutputOptions, table, tell } from '../output.ts'
import { allUsers } from './users.ts'

export type Group = Static<(typeof groups.listAccessGroups.responses)[200]['schema']>['items'][number]

export const allGroups = async (service: Service): Promise<Group[]> =>
  (await service.call(groups.listAccessGroups)).items

const groupCalled = async (service: Service, name: string): Promise<Group> =>
  theOne('group', name, await allGroups(service))

const namesOf = ({ accounts }: Group): string => accounts.map(({ name }) => name).join(', ')
const grantsOf = ({ grants }: Group): string =>
  grants.map(({ repository, access }) => `${repository}:${access}`).join(', ')

export const addGroup = async (name: string, options: OutputOptions): Promise<void> => {
  const group = await connect().call(groups.createAccessGroup, { body: { name } })
  tell(options, group, `Created the group ${group.name}. Give it access: svc grant ${group.name} releases read`)
}

export const listGroups = async (options: OutputOptions): Promise<void> => {
  const items = await allGroups(connect())
  const rows = items.map((group) => [group.name, namesOf(group), grantsOf(group)])
  tell(options, { items }, ...table(['NAME', 'MEMBERS', 'GRANTS'], rows, 'There are no groups.'))
}

export const showGroup = async (name: string, options: OutputOptions): Promise<void> => {
  const group = await groupCalled(connect(), name)
  const rows = group.accounts.map((account) => [account.name])
  tell(options, group, ...table(['MEMBER'], rows, `${group.name} has no members.`))
}

/** Makes users members, or ends that. Says what each group has afterwards. */
export const changeMembers = async (
  change: 'add' | 'remove',
  name: string,
  userNames: readonly string[],
  options: OutputOptions,
): Promise<void> => {
  const service = connect()
  const { id } = await groupCalled(service, name)
  const everybody = await allUsers(service)
  const users = userNames.map((each) => theOne('user', each, everybody))
  const operation = change === 'add' ? groups.addAccessGroupMember : groups.removeAccessGroupMember
  for (const user of users) await service.call(operation, { path: { id, userId: user.id } })
  const group = await service.call(groups.getAccessGroup, { path: { id } })
  const who = users.map((user) => user.name).join(', ')
  const gives = group.grants.length === 0 ? 'It grants nothing.' : `It grants ${grantsOf(group)}.`
  tell(options, group, change === 'add' ? `In ${group.name}: ${who}. ${gives}` : `No longer in ${group.name}: ${who}.`)
}

export const removeGroup = async (name: string, options: OutputOptions): Promise<void> => {
  const service = connect()
  const group = await groupCalled(service, name)
  await service.call(groups.deleteAccessGroup, { path: { id: group.id } })
  const lost = group.grants.length === 0 ? '' : ` Its members lost ${grantsOf(group)}.`
  tell(options, group, `Removed the group ${group.name}.${lost}`)
}
