import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { Access } from '../../../kernel/actions.ts'
import { keyDaysMax } from '../../../kernel/limits/identity.ts'
import type { PasswordOptions } from '../../client/secret-input.ts'
import { example } from '../example.ts'
import type { OutputOptions } from '../output.ts'

/** Commands on who may do what. What they do is loaded when they are called. */

const asJson = ['--json', 'print JSON, with the fields of the interface'] as const
const generate = ['--generate', 'make up a password and print it, once'] as const
const may = ['--may <repository=actions...>', 'what it may do, such as builds=write,artifact.delete'] as const

const days = (text: string): number => {
  const count = Number(text)
  if (!/^[1-9]\d{0,3}$/.test(text) || count > keyDaysMax)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${keyDaysMax}.`)
  return count
}

interface Named extends OutputOptions {
  readonly name?: string
  readonly may?: string[]
  readonly days?: number
  readonly activate?: boolean
}

export const declareSignIn = (program: Command): void => {
  const signIn = () => import('./sign-in.ts')
  example(
    program
      .command('login [address]')
      .description('sign in with name and password, and keep the session for the commands that follow')
      .option('--user <name>', 'who signs in; asked for where it is left out')
      .option(...asJson),
    'svc login https://files.example.org --user ann',
  ).action(async (address: string | undefined, options: OutputOptions & { user?: string }) =>
    (await signIn()).login(address, options),
  )
  example(
    program
      .command('logout [address]')
      .description('end the session that svc login began')
      .option(...asJson),
    'svc logout',
  ).action(async (address: string | undefined, options: OutputOptions) => (await signIn()).logout(address, options))
  example(
    program
      .command('token [address]')
      .description('print the session that svc login began, for curl and other programs')
      .option(...asJson),
    'svc token https://files.example.org',
  ).action(async (address: string | undefined, options: OutputOptions) => (await signIn()).printToken(address, options))
}

export const declareUsers = (program: Command): void => {
  const users = () => import('./users.ts')
  const user = program.command('user').description('people: their accounts, passwords and tokens')
  const withPassword = (command: Command): Command => command.option(...generate).option(...asJson)
  example(
    withPassword(
      user
        .command('add <name>')
        .description('create an account; its password is asked for, read from standard input, or made up')
        .option('--administrator', 'let it administrate accounts, groups and repositories'),
    ),
    'svc user add ann --generate',
  ).action(async (name: string, options: OutputOptions & PasswordOptions & { administrator?: boolean }) =>
    (await users()).addUser(name, options),
  )
  example(
    user
      .command('list')
      .description('list accounts')
      .option(...asJson),
    'svc user list',
  ).action(async (options: OutputOptions) => (await users()).listUsers(options))
  for (const [verb, enabled, what] of [
    ['disable', false, 'end the sessions of an account, and let it in no more'],
    ['enable', true, 'let a disabled account in again'],
  ] as const)
    example(
      user
        .command(`${verb} <name>`)
        .description(what)
        .option(...asJson),
      `svc user ${verb} ann`,
    ).action(async (name: string, options: OutputOptions) => (await users()).setUserEnabled(name, enabled, options))
  example(
    withPassword(
      user.command('password <name>').description('give an account a new password; ends its sessions and tokens'),
    ),
    'svc user password ann --generate',
  ).action(async (name: string, options: OutputOptions & PasswordOptions) => (await users()).setPassword(name, options))
  example(
    user
      .command('tokens <name>')
      .description('list the personal tokens of an account, or revoke one')
      .option('--revoke <token>', 'the name or id of the one to revoke')
      .option(...asJson),
    'svc user tokens ann --revoke laptop',
  ).action(async (name: string, options: OutputOptions & { revoke?: string }) =>
    (await users()).userTokens(name, options),
  )
}

export const declareGroups = (program: Command): void => {
  const groups = () => import('./groups.ts')
  const group = program.command('group').description('groups, through which people have access to repositories')
  example(
    group
      .command('add <name>')
      .description('create an empty group')
      .option(...asJson),
    'svc group add deployers',
  ).action(async (name: string, options: OutputOptions) => (await groups()).addGroup(name, options))
  example(
    group
      .command('list')
      .description('list groups, their members and what they grant')
      .option(...asJson),
    'svc group list',
  ).action(async (options: OutputOptions) => (await groups()).listGroups(options))
  example(
    group
      .command('members <group>')
      .description('list the members of a group')
      .option(...asJson),
    'svc group members deployers',
  ).action(async (name: string, options: OutputOptions) => (await groups()).showGroup(name, options))
  for (const [verb, change, what] of [
    ['add-member', 'add', 'make users members of a group'],
    ['remove-member', 'remove', 'end memberships'],
  ] as const)
    example(
      group
        .command(`${verb} <group> <users...>`)
        .description(what)
        .option(...asJson),
      `svc group ${verb} deployers ann ben`,
    ).action(async (name: string, names: string[], options: OutputOptions) =>
      (await groups()).changeMembers(change, name, names, options),
    )
  example(
    group
      .command('remove <group>')
      .description('remove a group and what it gave its members')
      .option(...asJson),
    'svc group remove deployers',
  ).action(async (name: string, options: OutputOptions) => (await groups()).removeGroup(name, options))
}

const access = (text: string): Argument => new Argument(text, 'write includes read').choices(['read', 'write'])

export const declareGrants = (program: Command): void => {
  const grants = () => import('./grants.ts')
  example(
    program
      .command('grant <who> <repository>')
      .description(
        'let a user or a group read or write in a repository; a user gets it through a group that is for this alone',
      )
      .addArgument(access('<access>'))
      .option(...asJson),
    'svc grant ann releases write',
  ).action(async (who: string, repository: string, what: Access, options: OutputOptions) =>
    (await grants()).grant(who, repository, what, options),
  )
  example(
    program
      .command('revoke <who> <repository>')
      .description('take access to a repository away: write leaves read, read takes both')
      .addArgument(access('[access]').default('read'))
      .option(...asJson),
    'svc revoke ann releases write',
  ).action(async (who: string, repository: string, what: Access, options: OutputOptions) =>
    (await grants()).revoke(who, repository, what, options),
  )
  const who = () => import('./who.ts')
  example(
    program
      .command('who <repository>')
      .description('list who may do what in a repository, and through what')
      .option('--may <action>', 'only those who may read, write, or do one action such as artifact.delete')
      .option(...asJson),
    'svc who releases --may write',
  ).action(async (repository: string, options: OutputOptions & { may?: string }) =>
    (await who()).who(repository, options),
  )
  example(
    program
      .command('explain <who> <repository> <action>')
      .description('say whether somebody may do something, and through what, or what is missing')
      .option(...asJson),
    'svc explain ann releases write',
  ).action(async (name: string, repository: string, action: string, options: OutputOptions) =>
    (await who()).explain(name, repository, action, options),
  )
}

export const declareServiceAccounts = (program: Command): void => {
  const accounts = () => import('./service-accounts.ts')
  const account = program.command('service-account').description('accounts of programs: what their keys may do')
  example(
    account
      .command('add <name>')
      .description('create a service account with its policy')
      .option(...may)
      .option(...asJson),
    'svc service-account add build-server --may builds=write,artifact.delete releases=read',
  ).action(async (name: string, options: Named) => (await accounts()).addServiceAccount(name, options))
  example(
    account
      .command('list')
      .description('list service accounts and their policies')
      .option(...asJson),
    'svc service-account list',
  ).action(async (options: OutputOptions) => (await accounts()).listServiceAccounts(options))
  example(
    account
      .command('policy <name>')
      .description('show what the keys of a service account may do at most, or replace it')
      .option(...may)
      .option(...asJson),
    'svc service-account policy build-server --may builds=write',
  ).action(async (name: string, options: Named) => (await accounts()).servicePolicy(name, options))
  for (const [verb, enabled, what] of [
    ['disable', false, 'stop every key of a service account at once'],
    ['enable', true, 'let the keys of a service account work again'],
  ] as const)
    example(
      account
        .command(`${verb} <name>`)
        .description(what)
        .option(...asJson),
      `svc service-account ${verb} build-server`,
    ).action(async (name: string, options: OutputOptions) =>
      (await accounts()).setServiceAccountEnabled(name, enabled, options),
    )
}

export const declareKeys = (program: Command): void => {
  const keys = () => import('./keys.ts')
  const key = program.command('key').description('keys of service accounts')
  const forNew = (command: Command): Command =>
    command
      .option('--name <name>', 'what to call it')
      .option(...may)
      .option('--days <count>', 'how long it works; 90 if nothing is said', days)
      .option('--activate', 'activate it at once instead of within 15 minutes')
      .option(...asJson)
  example(
    key
      .command('list <service-account>')
      .description('list the keys of a service account')
      .option(...asJson),
    'svc key list build-server',
  ).action(async (account: string, options: OutputOptions) => (await keys()).listKeys(account, options))
  example(
    forNew(
      key
        .command('issue <service-account>')
        .description('issue a key and print its secret, once; all that its policy allows'),
    ),
    'svc key issue build-server --name nightly --activate',
  ).action(async (account: string, options: Named) => (await keys()).issueKey(account, options))
  example(
    forNew(
      key
        .command('rotate <service-account> [key]')
        .description('issue a key in the place of another, which ends a day after the new one is activated'),
    ),
    'svc key rotate build-server nightly --activate',
  ).action(async (account: string, name: string | undefined, options: Named) =>
    (await keys()).rotateKey(account, name, options),
  )
  example(
    key
      .command('revoke <service-account> [key]')
      .description('revoke a key at once')
      .option(...asJson),
    'svc key revoke build-server nightly',
  ).action(async (account: string, name: string | undefined, options: OutputOptions) =>
    (await keys()).revokeKey(account, name, options),
  )
  example(
    key
      .command('activate')
      .description('activate a key; its secret is asked for, or read from standard input')
      .option(...asJson),
    'svc key activate < secret',
  ).action(async (options: OutputOptions) => (await keys()).activateKey(options))
}

export const declareRecoveryKey = (program: Command): void => {
  const recoveryKey = program.command('recovery-key').description('the key that the service makes on its first start')
  example(
    recoveryKey
      .command('rotate')
      .description('put another recovery key in the place of this one, in the files of this machine')
      .option(...asJson),
    'svc recovery-key rotate',
  ).action(async (options: OutputOptions) => (await import('./recovery-key.ts')).rotateRecoveryKeyCommand(options))
}
