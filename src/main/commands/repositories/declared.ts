import type { Command } from 'commander'
import { knowsService } from '../../client/connect.ts'
import { example } from '../example.ts'
import type { OutputOptions } from '../output.ts'

const asJson = ['--json', 'print JSON, with the fields of the interface'] as const

/** A service that commands know of is asked; otherwise the database of this machine, beside a running service too. */
const where = async () => (knowsService() ? await import('./asked.ts') : await import('./here.ts'))

export const declareRepositories = (program: Command): void => {
  const repository = program
    .command('repository')
    .description(
      'repositories: of the service that SVC_URL, SVC_TOKEN or svc login name, otherwise in the database of this machine',
    )
  example(
    repository
      .command('create <id>')
      .alias('add')
      .description('create a repository')
      .option(...asJson),
    'svc repository create builds',
  ).action(async (id: string, options: OutputOptions) => (await where()).createRepositoryCommand(id, options))
  example(
    repository
      .command('list')
      .description('list repositories: what you may do in them, or on the machine itself the bytes they hold')
      .option(...asJson),
    'svc repository list',
  ).action(async (options: OutputOptions) => (await where()).listRepositoriesCommand(options))
  example(
    repository
      .command('quota <id> <bytes>')
      .description('limit what a repository may reserve in all, or none for no limit')
      .option(...asJson),
    'svc repository quota builds 10000000000',
  ).action(async (id: string, bytes: string, options: OutputOptions) =>
    (await where()).setQuotaCommand(id, bytes, options),
  )
  example(
    repository
      .command('delete <id>')
      .alias('remove')
      .description('delete an empty repository')
      .option(...asJson),
    'svc repository delete builds',
  ).action(async (id: string, options: OutputOptions) => (await where()).deleteRepositoryCommand(id, options))
}
