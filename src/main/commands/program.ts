import { Command, InvalidArgumentError, Option } from 'commander'
import { inlineMovesPerSecondTyped, scrubMiBPerSecondDefault } from '../../kernel/limits/upkeep.ts'
import { unknownSettings } from '../settings/rules.ts'
import { programVersion } from '../version.ts'
import {
  declareGrants,
  declareGroups,
  declareKeys,
  declareRecoveryKey,
  declareServiceAccounts,
  declareSignIn,
  declareUsers,
} from './access/declared.ts'
import { exampleText } from './example.ts'
import { declareLfs } from './lfs/declared.ts'
import type { OutputOptions } from './output.ts'
import { declareRepositories } from './repositories/declared.ts'
import { serve } from './serve.ts'
import { declareWebhooks } from './webhooks/declared.ts'

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1 to 999999.')
  return Number(text)
}

const services = new Set(['up', 'serve', 'worker', 'agent'])

/**
 * The command line: a value, so that tests can walk through it. What a command does is a function of settings and
 * arguments, and loaded when it is called: a service is to be up soon.
 */
export const commandLine = (): Command => {
  const program = new Command('svc')
    .description('A self-hosted artifact repository. Settings come from the environment; see `svc settings`.')
    .version(programVersion())
    .showHelpAfterError()
    // A service says so in its log.
    .hook('preAction', (_, command) => {
      if (!services.has(command.name()))
        for (const warning of unknownSettings(process.env)) console.error(`svc: ${warning}`)
    })
  declareServices(program)
  declareLooks(program)
  declareStore(program)
  declareBlobs(program)
  declareMoving(program)
  declareBackups(program)
  declareRepositories(program)
  declareWebhooks(program)
  declareLfs(program)
  declareSignIn(program)
  declareUsers(program)
  declareGroups(program)
  declareGrants(program)
  declareServiceAccounts(program)
  declareKeys(program)
  declareRecoveryKey(program)
  return program
}

/** What runs until it is told to stop. */
const declareServices = (program: Command): void => {
  program
    .command('up')
    .description('run everything on one machine: gateway, worker and backup agent')
    .addHelpText('after', exampleText('svc up'))
    .action(() => serve({ gateway: 'api', worker: true, agent: true }))
  program
    .command('serve')
    .description('run a gateway only')
    .addOption(
      new Option('--role <role>', 'api takes everything, reader only GET and HEAD')
        .choices(['api', 'reader'])
        .default('api'),
    )
    .addHelpText('after', exampleText('svc serve --role reader'))
    .action(({ role }: { role: 'api' | 'reader' }) => serve({ gateway: role, worker: false }))
  program
    .command('worker')
    .description('run the upkeep only')
    .addHelpText('after', exampleText('svc worker'))
    .action(() => serve({ gateway: null, worker: true }))
  program
    .command('agent')
    .description('run the backup agent only')
    .addHelpText('after', exampleText('svc agent'))
    .action(() => serve({ gateway: null, worker: false, agent: true }))
}

/** What says how things are. */
const declareLooks = (program: Command): void => {
  program
    .command('status')
    .description('say how the running service is; ends with 6 where it cannot serve requests')
    .option('--json', 'print JSON, with the fields of the interface')
    .addHelpText('after', exampleText('svc status'))
    .action(async (options: OutputOptions) => (await import('./status.ts')).status(options))
  program
    .command('settings [name]')
    .description('print every setting, its value and where it comes from, or what one of them means')
    .option('--changed', 'only those that the environment sets')
    .option('--json', 'for programs')
    .addHelpText('after', exampleText('svc settings --changed'))
    .action(async (name: string | undefined, options: { changed?: boolean; json?: boolean }) =>
      (await import('./settings.ts')).showSettings(name, options),
    )
}

/** What is done about the bytes and rows of this machine. */
const declareStore = (program: Command): void => {
  program
    .command('doctor')
    .description('check every invariant of the store and say what is wrong')
    .option('--repair', 'put right what can be put right without losing anything')
    .addHelpText('after', exampleText('svc doctor --repair'))
    .action(async (options: { repair?: boolean }) => (await import('./doctor.ts')).doctor(options))
  program
    .command('quarantine')
    .description('list files in the store that no row knows, or give up those that were there for long')
    .option('--remove-after <days>', 'give up what has been there for so many days, for good', wholeNumber)
    .addHelpText('after', exampleText('svc quarantine --remove-after 30'))
    .action(async ({ removeAfter }: { removeAfter?: number }) =>
      (await import('./quarantine.ts')).quarantineCommand({ removeAfterDays: removeAfter }),
    )
  program
    .command('adopt-store')
    .description('make the blob store that of this database, whatever it belonged to')
    .addHelpText('after', exampleText('svc adopt-store'))
    .action(async () => (await import('./adopt-store.ts')).adoptStoreCommand())
  program
    .command('scrub')
    .description('read every stored file again, say whose content has changed, and bring it back from the vault')
    .option('--rate <MiB>', 'how much to read a second', wholeNumber, scrubMiBPerSecondDefault)
    .option('--after <digest>', 'go on behind this digest, as an interrupted run says')
    .option('--no-heal', 'leave what has changed as it is')
    .addHelpText('after', exampleText('svc scrub --rate 50'))
    .action(async (options: { rate: number; after?: string; heal: boolean }) =>
      (await import('./scrub.ts')).scrub(options),
    )
}

/** Where small files are kept. */
const declareBlobs = (program: Command): void => {
  const blobs = program.command('blobs').description('move small files between the blob store and the database')
  for (const [name, way, description] of [
    ['inline', 'in', 'move files up to SVC_INLINE_BYTES into the database now'],
    ['outline', 'out', 'move files that are larger than SVC_INLINE_BYTES out of the database now'],
  ] as const)
    blobs
      .command(name)
      .description(description)
      .option('--rate <files>', 'how many to move a second', wholeNumber, inlineMovesPerSecondTyped)
      .addHelpText('after', exampleText(`svc blobs ${name}`))
      .action(async ({ rate }: { rate: number }) => (await import('./blobs.ts')).moveBlobs(way, rate))
}

/** What takes the whole catalog elsewhere, or brings it back. */
const declareMoving = (program: Command): void => {
  program
    .command('export <folder>')
    .description('write the whole catalog with its bytes to a folder, beside a running service; go on where it stopped')
    .option('--without-bytes', 'leave the stored bytes out')
    .option('--refresh', 'bring a finished export in this folder up to date')
    .addOption(
      new Option('--verify', 'read again every file that is there, and replace what is damaged').conflicts(
        'withoutBytes',
      ),
    )
    .addHelpText('after', exampleText('svc export /backup/svc'))
    .action(async (folder: string, options: { withoutBytes?: boolean; refresh?: boolean; verify?: boolean }) =>
      (await import('./moving.ts')).exportCommand(folder, options),
    )
  program
    .command('import <folder>')
    .description('put an export into an empty database and store; go on where it stopped')
    .addHelpText('after', exampleText('svc import /backup/svc'))
    .action(async (folder: string) => (await import('./moving.ts')).importCommand(folder))
}

/** What keeps points of the whole service elsewhere, and brings one back. */
const declareBackups = (program: Command): void => {
  const backup = program.command('backup').description('take, list and verify backups in the vault (SVC_BACKUP_VAULT)')
  backup
    .command('run')
    .description('take a point now, beside a running service')
    .addHelpText('after', exampleText('svc backup run'))
    .action(async () => (await import('./backup.ts')).runBackupCommand())
  backup
    .command('points')
    .description('list the points of the vault, newest first')
    .addHelpText('after', exampleText('svc backup points'))
    .action(async () => (await import('./backup.ts')).listPointsCommand())
  backup
    .command('verify <point>')
    .description('read every stored byte of a point')
    .addHelpText('after', exampleText('svc backup verify 01890a5d-ac96-774b-bcce-b302099a8057'))
    .action(async (point: string) => (await import('./backup.ts')).verifyBackupCommand(point))
  program
    .command('rehearse [point]')
    .description(
      'try a restore of a point (by default the newest) in a scratch folder, look at what it answers, remove it',
    )
    .option('--scratch <folder>', 'where there is room for all of it; by default the data directory')
    .addHelpText('after', exampleText('svc rehearse --scratch /mnt/large'))
    .action(async (point: string | undefined, options: { scratch?: string }) =>
      (await import('./rehearse.ts')).rehearseCommand(point ?? 'latest', options),
    )
  const restore = program
    .command('restore <point>')
    .description('put a point (its id, `latest`, or a time) into an empty database and store; go on where it stopped')
    .option('--revoke-all', 'end all sessions, tokens, service keys and download links')
    .addOption(
      new Option(
        '--only <repository>',
        'bring this repository back beside the running service, under the id of --into',
      ).conflicts('revokeAll'),
    )
    .option('--into <repository>', 'with --only: an id that nobody has')
    .addHelpText('after', exampleText('svc restore latest'))
    .action(
      async (point: string, { only, into, ...options }: { revokeAll?: boolean; only?: string; into?: string }) => {
        const commands = await import('./restore.ts')
        await (only === undefined && into === undefined
          ? commands.restoreCommand(point, options)
          : commands.restoreRepositoryCommand(point, only, into))
      },
    )
  restore
    .command('file <point> <repository> <what>')
    .description('write one file of a point here: by its path, its id, its SHA-256, or name@version of npm')
    .option('--output <file>', 'where to; - is the standard output; by default its own name, in this folder')
    .addHelpText('after', exampleText('svc restore file latest releases app/1.0.0/app.tar.gz'))
    .action(async (point: string, repository: string, what: string, options: { output?: string }) =>
      (await import('./restore-file.ts')).restoreFileCommand(point, repository, what, options),
    )
}
