import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { deliver, type Event, testAction } from '../../../features/operating/webhooks/delivery.ts'
import { type WebhookStanding, webhooksStand } from '../../../features/operating/webhooks/shown.ts'
import {
  giveUpSubscription,
  isHeld,
  type StandingDeps,
  tryAtOnce,
} from '../../../features/operating/webhooks/standing.ts'
import { hostOf } from '../../../features/operating/webhooks/subscription.ts'
import { journalRows } from '../../../journal/repository/journal.queries.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { isJournalAction } from '../../../kernel/journal-actions.ts'
import { webhooksLookEveryMs } from '../../../kernel/limits/webhooks.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import { openDoorBy } from '../../door.ts'
import { readSettings } from '../../settings/rules.ts'
import { webhookDoorData } from '../../webhooks/door.ts'
import { type Edit, type Editing, editWebhooks, makeSecret } from '../../webhooks/editing.ts'
import { type WebhookEntry, WebhooksWrong } from '../../webhooks/entries.ts'
import { readWebhooks } from '../../webhooks/file.ts'
import { readSecret, secretsOf } from '../../webhooks/secrets.ts'
import { withEngines } from '../offline.ts'
import { type OutputOptions, table, tell } from '../output.ts'

/** The file that the settings name. */
const filePath = (): string => {
  const { webhooksFile } = readSettings(process.env)
  if (webhooksFile === null)
    throw new CommandFailed('failed', 'SVC_WEBHOOKS_FILE is not set: it says where the subscriptions stand')
  return webhooksFile
}

/** What is wrong with the file, for whoever typed the command. */
const blamed = async <T>(path: string, work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof WebhooksWrong) throw new CommandFailed('failed', `${path}: ${error.message}`)
    throw error
  }
}

const change = (edit: Edit, editing?: Editing): Promise<void> => {
  const path = filePath()
  return blamed(path, editWebhooks(path, edit, editing))
}

/** Changes the file to one that names a secret, which is made where there is none; says whether it was. */
const changeWithSecret = async (secretFile: string, edit: Edit, begins = false): Promise<boolean> => {
  let made = false
  const prepare = async (): Promise<void> => {
    made = await makeSecret(secretFile, filePath())
    await readSecret(secretFile)
  }
  await change(edit, { begins, prepare })
  return made
}

const entryOf = (entries: readonly WebhookEntry[], id: string): WebhookEntry => {
  const entry = entries.find((each) => each.id === id)
  if (entry === undefined) throw new CommandFailed('unknownName', `the file has no webhook ${id}`)
  return entry
}

const known = async (id: string): Promise<WebhookEntry> => {
  const path = filePath()
  return entryOf(await blamed(path, readWebhooks(path)), id)
}

/** How those of the file stand, and those that it named a moment ago. */
export const listWebhooksCommand = async (options: OutputOptions): Promise<void> => {
  const path = filePath()
  const entries = await blamed(path, readWebhooks(path))
  await withEngines(async (engines) => {
    const items = await webhooksStand(engines)
    const waiting = entries.filter(({ id }) => !items.some((item) => item.id === id))
    if (options.json === true) return tell(options, { items, untaken: waiting.map(untaken) })
    const rows = items.map((item) => [
      item.id,
      item.repository,
      item.host,
      `${item.position} of ${item.head}`,
      stateOf(item),
      item.nextTryAt ?? '',
      item.lostEvents === 0 ? '' : `${item.lostEvents} lost`,
    ])
    for (const { id, repository, host } of waiting.map(untaken))
      rows.push([id, repository, host, '', 'no worker has taken it yet', '', ''])
    const head = ['id', 'repository', 'host', 'event', 'state', 'next try', '']
    for (const line of table(head, rows, `${path} has no webhooks`)) console.log(line)
  })
}

/** What is known of one that no worker has taken yet. */
const untaken = (entry: WebhookEntry) => {
  const { id, repository, actions } = entry
  return { id, repository, host: hostOf(entry), actions }
}

const stateOf = ({ state, repository, errorCode, failingSince }: WebhookStanding): string => {
  const why = failingSince === null ? '' : `${errorCode} since ${failingSince}`
  if (state === 'no_repository') return `there is no repository ${repository}`
  if (state === 'no_worker') return `no worker delivers it${why === '' ? '' : `; ${why}`}`
  return why === '' ? 'delivered' : why
}

interface Added extends OutputOptions {
  readonly secretFile?: string
  readonly actions?: string
}

/** Adds one; makes the secret where there is none, and says where it is. */
export const addWebhookCommand = async (id: string, repository: string, url: string, options: Added): Promise<void> => {
  const path = filePath()
  const secretFile = resolve(options.secretFile ?? `${path}.${id}.secret`)
  const actions = options.actions?.split(',').map((each) => each.trim()) ?? null
  const unknown = actions?.find((each) => !isJournalAction(each))
  if (unknown !== undefined) throw new CommandFailed('failed', `there is no action ${unknown}`)
  const edit: Edit = (entries) => {
    if (entries.some((each) => each.id === id))
      throw new CommandFailed('failed', `the file has a webhook ${id} already`)
    const entry = {
      id,
      repository,
      url,
      secretFile,
      nextSecretFile: null,
      actions: actions?.filter(isJournalAction) ?? null,
    }
    return [...entries, entry]
  }
  const made = await changeWithSecret(secretFile, edit, true)
  const said = made ? `A secret was made in ${secretFile}` : `Its secret is in ${secretFile}`
  tell(options, { id, secretFile }, `Added ${id}. ${said}; give it to the receiver.`)
}

/** Takes one out of the file, and lets nothing be kept for it. */
export const removeWebhookCommand = async (id: string, options: OutputOptions): Promise<void> => {
  await known(id)
  await withEngines(async (engines) => {
    await change((entries) => {
      entryOf(entries, id)
      return entries.filter((each) => each.id !== id)
    })
    await untilLetGo(engines, id)
    await giveUpSubscription(engines, id)
    tell(options, { id }, `Removed ${id}. Its secret stays where it is.`)
  })
}

/** A worker that reads the file lets go of it; one that died does not, and is not waited for. */
const untilLetGo = async (deps: StandingDeps, id: string): Promise<void> => {
  const since = performance.now()
  while (performance.now() - since < 3 * webhooksLookEveryMs && (await isHeld(deps, id))) await pause(letGoLookMs)
}
const letGoLookMs = 100

interface Rotated extends OutputOptions {
  readonly next?: string
  readonly finish?: boolean
}

/** Begins to sign with a second secret, or ends with the second alone. */
export const rotateWebhookCommand = async (id: string, options: Rotated): Promise<void> => {
  if (options.finish === true) {
    if (options.next !== undefined)
      throw new CommandFailed('failed', '--next begins and --finish ends; say one of them')
    const secretFile = await finishRotation(id)
    return tell(options, { id, secretFile }, `${id} is signed with ${secretFile} alone.`)
  }
  const next = resolve(options.next ?? `${filePath()}.${id}.${randomBytes(4).toString('hex')}.secret`)
  const edit = replaced(id, ({ secretFile, nextSecretFile }) => {
    if (nextSecretFile !== null)
      throw new CommandFailed('failed', `the webhook ${id} has a next secret already; end with --finish first`)
    if (next === secretFile) throw new CommandFailed('failed', `${id} is signed with ${next} already`)
    return { nextSecretFile: next }
  })
  await changeWithSecret(next, edit)
  tell(
    options,
    { id, nextSecretFile: next },
    `${id} is signed with both secrets. Give ${next} to the receiver, then: svc webhook rotate ${id} --finish`,
  )
}

/** Which secret it is signed with from now on. */
const finishRotation = async (id: string): Promise<string> => {
  let kept = ''
  const edit = replaced(id, ({ nextSecretFile }) => {
    if (nextSecretFile === null) throw new CommandFailed('failed', `the webhook ${id} has no next secret`)
    kept = nextSecretFile
    return { secretFile: nextSecretFile, nextSecretFile: null }
  })
  await change(edit, { prepare: async () => void (await readSecret(kept)) })
  return kept
}

const replaced =
  (id: string, to: (entry: WebhookEntry) => Partial<WebhookEntry>): Edit =>
  (entries) => {
    const entry = entryOf(entries, id)
    return entries.map((each) => (each === entry ? { ...each, ...to(each) } : each))
  }

/** Sends one event now, beside what the worker does. */
const send = async (entry: WebhookEntry, event: Event, options: OutputOptions): Promise<void> => {
  const door = openDoorBy(await webhookDoorData(readSettings(process.env)))
  try {
    const fault = await deliver(
      { line: door.line(entry.url), clock: systemClock },
      { subscription: entry, secrets: secretsOf(entry) },
      event,
    )
    if (fault !== null) throw new CommandFailed('failed', `${fault.code}: ${fault.why}`)
    tell(
      options,
      { id: entry.id, sequence: String(event.sequence) },
      `The receiver of ${entry.id} took ${event.action}.`,
    )
  } finally {
    await door[Symbol.asyncDispose]()
  }
}

const nobody = '00000000-0000-0000-0000-000000000000'

/** Sends an event that tells of nothing. */
export const testWebhookCommand = async (id: string, options: OutputOptions): Promise<void> =>
  send(await known(id), { sequence: 0, action: testAction, artifactId: nobody, detail: null }, options)

/** Sends one event again, or has the worker try at once what it waits to send. */
export const redeliverWebhookCommand = async (
  id: string,
  sequence: string | undefined,
  options: OutputOptions,
): Promise<void> => {
  const entry = await known(id)
  await withEngines(async ({ database }) => {
    if (sequence === undefined) {
      if (!(await tryAtOnce({ database }, id))) throw new CommandFailed('failed', `no worker has taken ${id} yet`)
      return tell(options, { id }, `${id} is tried again within seconds.`)
    }
    const at = Number(sequence)
    const stretch = { order: 'asc', above: at - 1, below: at + 1 } as const
    const [row] = await journalRows(database, entry.repository, stretch, 1)
    if (row === undefined)
      throw new CommandFailed('failed', `the journal of ${entry.repository} has no event ${sequence}`)
    const { action, artifact_id: artifactId, detail } = row
    await send(entry, { sequence: at, action, artifactId, detail }, options)
  })
}
