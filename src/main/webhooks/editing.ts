import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createNamed, syncDirectory, writeNamed } from '../../adapters/files/durable-file.ts'
import { parseWebhooks, type WebhookEntry, WebhooksWrong } from './entries.ts'
import { readWebhooks } from './file.ts'

/** The file's text for these subscriptions. */
const textOf = (entries: readonly WebhookEntry[]): string =>
  `${JSON.stringify(
    {
      webhooks: entries.map(({ nextSecretFile, actions, ...entry }) => ({
        ...entry,
        ...(nextSecretFile === null ? {} : { nextSecretFile }),
        ...(actions === null ? {} : { actions }),
      })),
    },
    null,
    2,
  )}\n`

/**
 * Changes the file of webhooks: whole and durable or not at all, never to one that would be refused, and not over what
 * somebody else wrote meanwhile. Begins one where there is none.
 */
export const editWebhooks = async (
  path: string,
  change: (entries: readonly WebhookEntry[]) => readonly WebhookEntry[],
): Promise<void> => {
  await createNamed(path, textOf([]))
  const before = await readFile(path, 'utf8')
  const text = textOf(change(await readWebhooks(path)))
  parseWebhooks(text)
  if ((await readFile(path, 'utf8')) !== before)
    throw new WebhooksWrong(['somebody else changed it at this moment; try again'])
  await writeNamed(path, (handle) => handle.writeFile(text))
  await syncDirectory(dirname(path))
}
