import { type Command, InvalidArgumentError } from 'commander'
import { example } from '../example.ts'
import type { OutputOptions } from '../output.ts'

const asJson = ['--json', 'print JSON, with the fields of the interface'] as const

const sequence = (text: string): string => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('must be the sequence of an event.')
  return text
}

export const declareWebhooks = (program: Command): void => {
  const webhook = program
    .command('webhook')
    .description('webhooks: the subscriptions in the file that SVC_WEBHOOKS_FILE names, and how they stand')
  example(
    webhook
      .command('list')
      .description('list subscriptions and how they stand')
      .option(...asJson),
    'svc webhook list',
  ).action(async (options: OutputOptions) => (await import('./commands.ts')).listWebhooksCommand(options))
  example(
    webhook
      .command('add <id> <repository> <url>')
      .description('send the events of a repository from now on to an address')
      .option('--secret-file <path>', 'the secret that signs them; made where there is none')
      .option('--actions <list>', 'only these, separated by commas')
      .option(...asJson),
    'svc webhook add builds releases https://hooks.example.org/svc',
  ).action(
    async (
      id: string,
      repository: string,
      url: string,
      options: OutputOptions & { secretFile?: string; actions?: string },
    ) => (await import('./commands.ts')).addWebhookCommand(id, repository, url, options),
  )
  example(
    webhook
      .command('remove <id>')
      .alias('delete')
      .description('send no more, and keep nothing for it')
      .option(...asJson),
    'svc webhook remove builds',
  ).action(async (id: string, options: OutputOptions) =>
    (await import('./commands.ts')).removeWebhookCommand(id, options),
  )
  example(
    webhook
      .command('rotate <id>')
      .description('sign with a second secret as well; with --finish with that one alone')
      .option('--next <path>', 'the second secret; made where there is none')
      .option('--finish', 'end with the second one')
      .option(...asJson),
    'svc webhook rotate builds',
  ).action(async (id: string, options: OutputOptions & { next?: string; finish?: boolean }) =>
    (await import('./commands.ts')).rotateWebhookCommand(id, options),
  )
  example(
    webhook
      .command('test <id>')
      .description('send an event now that tells of nothing, and say what became of it')
      .option(...asJson),
    'svc webhook test builds',
  ).action(async (id: string, options: OutputOptions) =>
    (await import('./commands.ts')).testWebhookCommand(id, options),
  )
  example(
    webhook
      .command('redeliver <id>')
      .argument('[sequence]', 'of the event', sequence)
      .description('send an event once more; without a sequence, have what waits for its next try sent at once')
      .option(...asJson),
    'svc webhook redeliver builds 4711',
  ).action(async (id: string, which: string | undefined, options: OutputOptions) =>
    (await import('./commands.ts')).redeliverWebhookCommand(id, which, options),
  )
}
