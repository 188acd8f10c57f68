import { isAbsolute } from 'node:path'
import type { SecretFiles, Subscription } from '../../features/operating/webhooks/subscription.ts'
import { isJournalAction } from '../../kernel/journal-actions.ts'
import { webhooksMax, webhookUrlMaxCharacters } from '../../kernel/limits/webhooks.ts'
import { isRepositoryId } from '../../kernel/names.ts'
import { outwardAddressFault } from '../../kernel/outward-address.ts'

/** A subscription as the file has it. */
export interface WebhookEntry extends Subscription, SecretFiles {}

/** Why a file of webhooks is none: in which item and which field. Nothing of the file's text but ids and names. */
export class WebhooksWrong extends Error {
  override readonly name = 'WebhooksWrong'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join('; '))
    this.faults = faults
  }
}

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldNames = new Set(['id', 'repository', 'url', 'secretFile', 'nextSecretFile', 'actions'])

/** Nobody mends more at a time, and a line of the log has an end. */
const faultsToldMax = 20

/** The subscriptions of a file. Throws a {@link WebhooksWrong} with what is wrong: no part of a wrong file is taken. */
export const parseWebhooks = (text: string): WebhookEntry[] => {
  const parsed = parseJson(text)
  if (!isFields(parsed) || !Array.isArray(parsed['webhooks']) || Object.keys(parsed).length !== 1)
    throw new WebhooksWrong(['it is no object with the field webhooks, an array, alone'])
  const items: readonly unknown[] = parsed['webhooks']
  const faults: string[] = []
  if (items.length > webhooksMax)
    throw new WebhooksWrong([`it has ${items.length} items, and ${webhooksMax} are the most`])
  const entries = items.map((item, at) => {
    const own: string[] = []
    const entry = entryOf(item, own)
    const named =
      isFields(item) && typeof item['id'] === 'string' && forms.id.test(item['id']) ? ` (${item['id']})` : ''
    faults.push(...own.map((fault) => `item ${at + 1}${named}, ${fault}`))
    return entry
  })
  const ids = new Set<string>()
  for (const [at, { id }] of entries.entries()) {
    if (ids.has(id)) faults.push(`item ${at + 1} (${id}), field id: another item has it`)
    ids.add(id)
  }
  if (faults.length === 0) return entries
  const more = faults.splice(faultsToldMax).length
  throw new WebhooksWrong(more === 0 ? faults : [...faults, `and ${more} more`])
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new WebhooksWrong(['it is not JSON'])
  }
}

const forms = { id: /^[a-z0-9_-]{1,64}$/ }

const entryOf = (item: unknown, faults: string[]): WebhookEntry => {
  const wrong = (field: string, why: string): void => void faults.push(`field ${field}: ${why}`)
  const given: Fields = isFields(item) ? item : {}
  if (!isFields(item)) faults.push('which is no object')
  for (const name of Object.keys(given))
    if (!fieldNames.has(name)) wrong(JSON.stringify(name).slice(0, 40), 'there is no such field')
  const text = (field: string, fits: (value: string) => string | null): string => {
    const value = given[field]
    const why = typeof value === 'string' ? fits(value) : 'it is no text'
    if (why !== null) wrong(field, why)
    return typeof value === 'string' ? value : ''
  }
  const absolute = (value: string): string | null => (isAbsolute(value) ? null : 'it is no absolute path')
  return {
    id: text('id', (value) => (forms.id.test(value) ? null : 'it is not 1 to 64 characters of a-z, 0-9, _ and -')),
    repository: text('repository', (value) => (isRepositoryId(value) ? null : 'it is no id of a repository')),
    url: text('url', (value) => outwardAddressFault(value, webhookUrlMaxCharacters)),
    secretFile: text('secretFile', absolute),
    nextSecretFile: given['nextSecretFile'] === undefined ? null : text('nextSecretFile', absolute),
    actions: actionsOf(given['actions'], wrong),
  }
}

const actionsOf = (value: unknown, wrong: (field: string, why: string) => void): WebhookEntry['actions'] => {
  if (value === undefined) return null
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  if (list.length === 0) wrong('actions', 'it is no list of actions; leave it out for all of them')
  if (new Set(list).size < list.length) wrong('actions', 'it names one twice')
  const unknown = list.find((each) => !isJournalAction(each))
  if (unknown !== undefined) wrong('actions', `there is no action ${JSON.stringify(unknown).slice(0, 40)}`)
  return list.filter(isJournalAction)
}
