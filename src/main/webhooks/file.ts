import { webhooksFileBytesMax } from '../../kernel/limits/webhooks.ts'
import { FileRefused, readGuarded } from '../guarded-file.ts'
import { parseWebhooks, type WebhookEntry, WebhooksWrong } from './entries.ts'

/** What stands in a file of webhooks. Throws a {@link WebhooksWrong} for one that cannot be read or that is none. */
export const readWebhooks = async (path: string): Promise<WebhookEntry[]> => {
  try {
    return parseWebhooks(await readGuarded(path, 'written', webhooksFileBytesMax))
  } catch (error) {
    throw error instanceof FileRefused ? new WebhooksWrong([error.message]) : error
  }
}
