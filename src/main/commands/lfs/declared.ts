import type { Command } from 'commander'
import { example } from '../example.ts'
import type { ImportOptions } from './objects.ts'

export const declareLfs = (program: Command): void => {
  const lfs = program.command('lfs').description('large files of Git repositories, at a service that commands know of')
  example(
    lfs
      .command('import <repository> <folder>')
      .description(
        'take objects of Git LFS over from a folder; what is there already is passed over, so that it may be repeated',
      )
      .option('--objects <file>', 'which ones, a line each: oid and size; - for standard input')
      .option('--json', 'print JSON'),
    'svc lfs import releases ~/game/.git/lfs/objects',
  ).action(async (repository: string, source: string, options: ImportOptions) =>
    (await import('./import.ts')).importLfs(repository, source, options),
  )
}
