import { readFile, stat } from 'node:fs/promises'
import { errorCode } from '../../adapters/files/errors.ts'
import { webhooksFileBytesMax } from '../../kernel/limits/webhooks.ts'
import { parseWebhooks, type WebhookEntry, WebhooksWrong } from './entries.ts'

/** Of a file's permissions. */
const writableByOthers = 0o022

/** What stands in a file of webhooks. Throws a {@link WebhooksWrong} for one that cannot be read or that is none. */
export const readWebhooks = async (path: string): Promise<WebhookEntry[]> => parseWebhooks(await readText(path))

const readText = async (path: string): Promise<string> => {
  try {
    const found = await stat(path)
    const { size, mode } = found
    if (!found.isFile()) throw new WebhooksWrong(['it is no file'])
    if ((mode & writableByOthers) !== 0)
      throw new WebhooksWrong(['others than its owner may write it; take that from them (chmod go-w)'])
    if (size > webhooksFileBytesMax) throw new WebhooksWrong([`it is larger than ${webhooksFileBytesMax} bytes`])
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof WebhooksWrong) throw error
    throw new WebhooksWrong([
      errorCode(error) === 'ENOENT' ? 'it does not exist' : `it cannot be read (${errorCode(error) ?? 'unknown'})`,
    ])
  }
}

/** Another text for each state of the file that may have another content; null where there is none. */
export const fileState = async (path: string): Promise<string | null> => {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return null
  }
}
