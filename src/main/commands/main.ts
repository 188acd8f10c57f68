import cluster from 'node:cluster'
import { Command, InvalidArgumentError, Option } from 'commander'
import { Failure } from '../../kernel/failure.ts'
import { scrubMiBPerSecondDefault } from '../../kernel/limits.ts'
import { SettingsInvalid } from '../settings/rules.ts'
import { programVersion } from '../version.ts'
import { doctor } from './doctor.ts'
import { exportCommand, importCommand } from './moving.ts'
import {
  createRepositoryCommand,
  deleteRepositoryCommand,
  listRepositoriesCommand,
  setQuotaCommand,
} from './repository.ts'
import { scrub } from './scrub.ts'
import { serve } from './serve.ts'
import { showSettings } from './settings.ts'

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1 to 999999.')
  return Number(text)
}

/** The command line. Everything it does is a function of settings and arguments; it ends with a sentence, not a trace. */
export const main = async (argv: readonly string[]): Promise<void> => {
  const program = new Command('svc')
    .description('A self-hosted artifact repository. Settings come from the environment; see `svc settings`.')
    .version(programVersion())
    .showHelpAfterError()
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
  program.command('settings').description('print every setting, its value and where it comes from').action(showSettings)
  program
    .command('doctor')
    .description('check every invariant of the store and say what is wrong')
    .option('--repair', 'put right what can be put right without losing anything')
    .action((options: { repair?: boolean }) => doctor(options))
  program
    .command('scrub')
    .description('read every stored file again and say whose content has changed')
    .option('--rate <MiB>', 'how much to read a second', wholeNumber, scrubMiBPerSecondDefault)
    .option('--after <digest>', 'go on behind this digest, as an interrupted run says')
    .action(scrub)
  program
    .command('export <folder>')
    .description('write the whole catalog with its bytes to a folder, beside a running service; go on where it stopped')
    .option('--without-bytes', 'leave the stored bytes out')
    .option('--refresh', 'bring a finished export in this folder up to date')
    .action((folder: string, options: { withoutBytes?: boolean; refresh?: boolean }) => exportCommand(folder, options))
  program
    .command('import <folder>')
    .description('put an export into an empty database and store; go on where it stopped')
    .action((folder: string) => importCommand(folder))
  const repository = program.command('repository').description('create, list and delete repositories')
  repository.command('create <id>').description('create a repository').action(createRepositoryCommand)
  repository.command('list').description('list repositories and the bytes they hold').action(listRepositoriesCommand)
  repository
    .command('quota <id> <bytes>')
    .description('limit what a repository may reserve in all, or none for no limit')
    .action(setQuotaCommand)
  repository.command('delete <id>').description('delete an empty repository').action(deleteRepositoryCommand)
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
