import type { Command } from 'commander'
import { example } from '../example.ts'
import type { ImportOptions } from './objects.ts'

export const declareLfs = (program: Command): void => {
  const lfs = program.command('lfs').description('large files of Git repositories, at a service that commands know of')
  example(
    lfs
      .command('import <repository> <source>')
      .description(
        'take objects of Git LFS over from a folder, or from the address of another server (https://…/info/lfs); what is there already is passed over, so that it may be repeated',
      )
      .option(
        '--objects <file>',
        'which ones: what `git lfs ls-files --all --json` prints, or a line each with oid and size; - for standard input',
      )
      .option('--user <name>', 'who asks the other server', 'git')
      .option('--password-file <path>', 'a file with the password, or the token, for the other server')
      .option('--allow-private <networks>', 'networks (CIDR) of the other server that are not public')
      .option('--plain-http', 'ask it without TLS')
      .option('--ca-file <path>', 'certificates (PEM) that are believed beside those of the system')
      .option('--json', 'print JSON'),
    'svc lfs import releases ~/game/.git/lfs/objects',
  ).action(async (repository: string, source: string, options: ImportOptions) =>
    (await import('./import.ts')).importLfs(repository, source, options),
  )
}
