import cluster from 'node:cluster'
import { Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from '../../kernel/failure.ts'
import { scrubMiBPerSecondDefault } from '../../kernel/limits/upkeep.ts'
import { keepFilesPrivate } from '../private-files.ts'
import { SettingsInvalid, unknownSettings } from '../settings/rules.ts'
import { programVersion } from '../version.ts'
import { serve } from './serve.ts'

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1 to 999999.')
  return Number(text)
}

const services = new Set(['up', 'serve', 'worker'])

/**
 * The command line. Everything it does is a function of settings and arguments; it ends with a sentence, not a trace. A
 * service is to be up soon: what only the other commands need is loaded by them.
 */
export const main = async (argv: readonly string[]): Promise<void> => {
  keepFilesPrivate()
  const program = new Command('svc')
    .description('A self-hosted artifact repository. Settings come from the environment; see `svc settings`.')
    .version(programVersion())
    .showHelpAfterError()
    // A service says so in its log.
    .hook('preAction', (_, command) => {
      if (!services.has(command.name()))
        for (const warning of unknownSettings(process.env)) console.error(`svc: ${warning}`)
    })
  program
    .command('up')
    .description('run everything on one machine: gateway and worker')
    .action(() => serve({ gateway: 'api', worker: true }))
  program
    .command('serve')
    .description('run a gateway only')
    .addOption(
      new Option('--role <role>', 'api takes everything, reader only GET and HEAD')
        .choices(['api', 'reader'])
        .default('api'),
    )
    .action(({ role }: { role: 'api' | 'reader' }) => serve({ gateway: role, worker: false }))
  program
    .command('worker')
    .description('run the upkeep only')
    .action(() => serve({ gateway: null, worker: true }))
  program
    .command('settings [name]')
    .description('print every setting, its value and where it comes from, or what one of them means')
    .option('--changed', 'only those that the environment sets')
    .option('--json', 'for programs')
    .action(async (name: string | undefined, options: { changed?: boolean; json?: boolean }) =>
      (await import('./settings.ts')).showSettings(name, options),
    )
  program
    .command('doctor')
    .description('check every invariant of the store and say what is wrong')
    .option('--repair', 'put right what can be put right without losing anything')
    .action(async (options: { repair?: boolean }) => (await import('./doctor.ts')).doctor(options))
  program
    .command('quarantine')
    .description('list files in the store that no row knows, or give up those that were there for long')
    .option('--remove-after <days>', 'give up what has been there for so many days, for good', wholeNumber)
    .action(async ({ removeAfter }: { removeAfter?: number }) =>
      (await import('./quarantine.ts')).quarantineCommand({ removeAfterDays: removeAfter }),
    )
  program
    .command('adopt-store')
    .description('make the blob store that of this database, whatever it belonged to')
    .action(async () => (await import('./adopt-store.ts')).adoptStoreCommand())
  program
    .command('scrub')
    .description('read every stored file again and say whose content has changed')
    .option('--rate <MiB>', 'how much to read a second', wholeNumber, scrubMiBPerSecondDefault)
    .option('--after <digest>', 'go on behind this digest, as an interrupted run says')
    .action(async (options: { rate: number; after?: string }) => (await import('./scrub.ts')).scrub(options))
  program
    .command('export <folder>')
    .description('write the whole catalog with its bytes to a folder, beside a running service; go on where it stopped')
    .option('--without-bytes', 'leave the stored bytes out')
    .option('--refresh', 'bring a finished export in this folder up to date')
    .action(async (folder: string, options: { withoutBytes?: boolean; refresh?: boolean }) =>
      (await import('./moving.ts')).exportCommand(folder, options),
    )
  program
    .command('import <folder>')
    .description('put an export into an empty database and store; go on where it stopped')
    .action(async (folder: string) => (await import('./moving.ts')).importCommand(folder))
  const repository = program.command('repository').description('create, list and delete repositories')
  const repositories = () => import('./repository.ts')
  repository
    .command('create <id>')
    .description('create a repository')
    .action(async (id: string) => (await repositories()).createRepositoryCommand(id))
  repository
    .command('list')
    .description('list repositories and the bytes they hold')
    .action(async () => (await repositories()).listRepositoriesCommand())
  repository
    .command('quota <id> <bytes>')
    .description('limit what a repository may reserve in all, or none for no limit')
    .action(async (id: string, bytes: string) => (await repositories()).setQuotaCommand(id, bytes))
  repository
    .command('delete <id>')
    .description('delete an empty repository')
    .action(async (id: string) => (await repositories()).deleteRepositoryCommand(id))
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.exitCode = 1
    if (error instanceof SettingsInvalid) for (const fault of error.faults) console.error(`svc: ${fault}`)
    else if (error instanceof Failure) console.error(`svc: ${error.message}`)
    else console.error(`svc: ${error instanceof Error ? error.message : String(error)}`)
    // One of several gateways: the channel to the one that started it would keep it alive.
    if (cluster.isWorker) process.exit()
  }
}
