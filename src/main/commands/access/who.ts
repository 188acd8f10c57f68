import { explainAccess, listWhoMay } from '../../../features/identity/access/operations.ts'
import { namesApart } from '../../../features/identity/access/vocabulary.ts'
import { type Access, isRepositoryAction, type RepositoryAction } from '../../../kernel/actions.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import { connect } from '../../client/connect.ts'
import { everyPage } from '../../client/pages.ts'
import { type OutputOptions, table, tell } from '../output.ts'
import { actionWords } from './bindings.ts'
import { requireRepository } from './repositories.ts'

/** What is asked about for those who say read or write: the bytes of files, and putting them there. */
const standsFor: Readonly<Record<Access, RepositoryAction>> = { read: 'content.read', write: 'asset.write' }

const actionIn = (text: string): RepositoryAction => {
  if (text === 'read' || text === 'write') return standsFor[text]
  if (isRepositoryAction(text)) return text
  throw new CommandFailed(
    'failed',
    `${JSON.stringify(text)} is no action: say read, write or one such as artifact.delete.`,
  )
}

interface Through {
  readonly kind: string
  readonly id: string | null
  readonly name: string
}

const words: Readonly<Record<string, string>> = { 'keys-file': 'keys file', policy: 'policy of' }
const through = (ways: readonly Through[]): string => {
  const names = namesApart(ways)
  return ways.map(({ kind }, at) => `${words[kind] ?? kind} ${names[at]}`).join(', ')
}
const kinds: Readonly<Record<string, string>> = { account: 'user', key: 'keys file' }

export const who = async (repository: string, options: OutputOptions & { readonly may?: string }): Promise<void> => {
  const service = connect()
  const action = options.may === undefined ? undefined : actionIn(options.may)
  await requireRepository(service, repository)
  const items = await everyPage((after) =>
    service.call(listWhoMay, {
      query: {
        repository,
        limit: 100,
        ...(action === undefined ? {} : { action }),
        ...(after === null ? {} : { after }),
      },
    }),
  )
  const rows = items.map((item) => [
    item.who.name,
    kinds[item.who.kind] ?? item.who.kind,
    actionWords(item.actions).join(', '),
    through(item.through),
  ])
  tell(options, { items }, ...table(['WHO', 'KIND', 'MAY', 'THROUGH'], rows, `Nobody may do that in ${repository}.`))
}

export const explain = async (
  caller: string,
  repository: string,
  action: string,
  options: OutputOptions,
): Promise<void> => {
  const query = { caller: caller.replace(/^user:/, 'account:'), repository, action: actionIn(action) }
  const told = await connect().call(explainAccess, { query })
  tell(
    options,
    told,
    `${told.allowed ? 'Yes' : 'No'}: ${told.caller.name}, ${told.action} in ${repository}. ${told.message}`,
  )
}
