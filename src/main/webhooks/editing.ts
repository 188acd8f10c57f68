import { randomBytes } from 'node:crypto'
import type { Stats } from 'node:fs'
import { chown, readFile, realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createNamed, syncDirectory, writeNamed } from '../../adapters/files/durable-file.ts'
import { errorCode } from '../../adapters/files/errors.ts'
import { lockFile } from '../../database/sqlite/file-lock.ts'
import { second } from '../../kernel/units.ts'
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

export type Edit = (entries: readonly WebhookEntry[]) => readonly WebhookEntry[]

export interface Editing {
  /** Whether one begins where there is none. */
  readonly begins?: boolean
  /** Once it is known that the change may be made, and before it is: makes what the file is to name. */
  readonly prepare?: () => Promise<void>
}

/**
 * Changes the file of webhooks: whole and durable or not at all, never to one that would be refused, one change after
 * the other, and not over what somebody wrote by hand meanwhile. Whoever owned it and might read it still does.
 */
export const editWebhooks = async (
  path: string,
  edit: Edit,
  { begins = false, prepare }: Editing = {},
): Promise<void> => {
  if (begins && (await isMissing(path))) {
    // What is wrong with it would be wrong with the first one as well, and leaves nothing.
    parseWebhooks(textOf(edit([])))
    await createNamed(path, textOf([]))
  }
  await readWebhooks(path)
  // Where it is a link, it stays one.
  const file = await realpath(path)
  const alone = await lockOf(file)
  try {
    await editAlone(file, edit, prepare)
  } finally {
    alone[Symbol.dispose]()
  }
}

const isMissing = async (path: string): Promise<boolean> => {
  try {
    await stat(path)
    return false
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true
    throw error
  }
}

const editAlone = async (file: string, edit: Edit, prepare: Editing['prepare']): Promise<void> => {
  const entries = await readWebhooks(file)
  const before = await readFile(file, 'utf8')
  const text = textOf(edit(entries))
  parseWebhooks(text)
  await prepare?.()
  if ((await readFile(file, 'utf8')) !== before)
    throw new WebhooksWrong(['somebody else changed it at this moment; try again'])
  const { mode, uid, gid } = await stat(file)
  await writeNamed(file, async (handle) => {
    await handle.writeFile(text)
    await handle.chmod(mode)
    if (isRoot()) await handle.chown(uid, gid)
  })
  await syncDirectory(dirname(file))
}

/** Of commands that change the file: each waits a moment for the one before. */
const lockOf = async (file: string): Promise<Disposable> => {
  const lock = `${file}.lock`
  for (const since = performance.now(); performance.now() - since < lockPatienceMs; await pause(lockLookMs)) {
    const alone = lockFile(lock, 'exclusive')
    if (alone === null) continue
    // Who changes it next may be its owner.
    await giveTo(lock, await stat(file))
    return alone
  }
  throw new WebhooksWrong(['another command is changing it; try again'])
}
const lockPatienceMs = 10 * second
const lockLookMs = 20

/** A secret of a subscription; false where there is one. Whoever owns the file of webhooks is to read it. */
export const makeSecret = async (path: string, webhooksFile: string): Promise<boolean> => {
  const made = await createNamed(path, `${randomBytes(32).toString('hex')}\n`)
  if (made) await giveTo(path, await stat(webhooksFile))
  return made
}

/** Only root gives files away; what others make is theirs. */
const isRoot = (): boolean => process.getuid?.() === 0
const giveTo = async (path: string, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): Promise<void> => {
  if (isRoot()) await chown(path, uid, gid)
}
