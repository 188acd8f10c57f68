import type { Static } from 'typebox'
import * as accounts from '../../../features/identity/accounts/operations.ts'
import * as tokens from '../../../features/identity/tokens/operations.ts'
import { connect } from '../../client/connect.ts'
import { theOne } from '../../client/names.ts'
import { newPassword, type PasswordOptions } from '../../client/secret-input.ts'
import type { Service } from '../../client/service.ts'
import { type OutputOptions, table, tell } from '../output.ts'

type User = Static<(typeof accounts.listUsers.responses)[200]['schema']>['items'][number]

export const allUsers = async (service: Service): Promise<User[]> => (await service.call(accounts.listUsers)).items

const userCalled = async (service: Service, name: string): Promise<User> =>
  theOne('user', name, await allUsers(service))

const secretLine = (password: string): string => `Password: ${password}`

export const addUser = async (
  name: string,
  options: OutputOptions & PasswordOptions & { readonly administrator?: boolean },
): Promise<void> => {
  const service = connect()
  const { password, generated } = await newPassword(options)
  const body = { name, password, administrator: options.administrator === true }
  const user = await service.call(accounts.createUser, { body })
  const role = user.administrator ? ', an administrator' : ''
  tell(
    options,
    generated ? { ...user, password } : user,
    `Created ${user.name}${role}.`,
    ...(generated ? [secretLine(password)] : []),
    `Give access to a repository: svc grant ${user.name} releases write`,
  )
}

export const listUsers = async (options: OutputOptions): Promise<void> => {
  const items = await allUsers(connect())
  const rows = items.map(({ name, administrator, enabled }) => [
    name,
    administrator ? 'administrator' : '',
    enabled ? '' : 'disabled',
  ])
  tell(options, { items }, ...table(['NAME', 'ROLE', 'STATE'], rows, 'There are no users.'))
}

export const setUserEnabled = async (name: string, enabled: boolean, options: OutputOptions): Promise<void> => {
  const service = connect()
  const { id } = await userCalled(service, name)
  const user = await service.call(accounts.updateUser, { path: { id }, body: { enabled } })
  tell(
    options,
    user,
    enabled ? `${user.name} may sign in again.` : `${user.name} is disabled: sessions ended, tokens do not work.`,
  )
}

export const setPassword = async (name: string, options: OutputOptions & PasswordOptions): Promise<void> => {
  const service = connect()
  const { id } = await userCalled(service, name)
  const { password, generated } = await newPassword(options)
  const user = await service.call(accounts.updateUser, { path: { id }, body: { password } })
  const done = `${user.name} has a new password: sessions ended, tokens are revoked.`
  tell(options, generated ? { ...user, password } : user, done, ...(generated ? [secretLine(password)] : []))
}

export const userTokens = async (
  name: string,
  options: OutputOptions & { readonly revoke?: string },
): Promise<void> => {
  const service = connect()
  const user = await userCalled(service, name)
  const { items } = await service.call(tokens.listUserTokens, { path: { id: user.id } })
  if (options.revoke !== undefined) {
    const token = theOne(
      'active token',
      options.revoke,
      items.filter(({ revoked }) => !revoked),
    )
    await service.call(tokens.revokeUserToken, { path: { id: user.id, tokenId: token.id } })
    tell(options, { ...token, revoked: true }, `Revoked the token ${token.name} of ${user.name}.`)
    return
  }
  const rows = items.map((token) => [
    token.name,
    token.prefix,
    token.scope,
    token.revoked ? 'revoked' : token.expiresAt === null ? '' : `until ${token.expiresAt}`,
    token.lastUsedAt ?? 'never',
  ])
  tell(
    options,
    { items },
    ...table(['NAME', 'BEGINS', 'SCOPE', 'STATE', 'LAST USED'], rows, `${user.name} has no tokens.`),
  )
}
