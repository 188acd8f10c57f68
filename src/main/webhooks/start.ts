import { randomUUID } from 'node:crypto'
import { Followers } from '../../features/operating/webhooks/followers.ts'
import type { Told } from '../../features/operating/webhooks/following.ts'
import { Noting } from '../../features/operating/webhooks/noting.ts'
import { Reading } from '../../features/operating/webhooks/reading.ts'
import type { SecretFiles } from '../../features/operating/webhooks/subscription.ts'
import { startReconciler } from '../../jobs/reconciler.ts'
import { watchJournal } from '../../journal/repository/watch.ts'
import { changesLookEveryMs } from '../../kernel/limits/catalog.ts'
import { webhooksLookEveryMs, webhooksMax } from '../../kernel/limits/webhooks.ts'
import type { Engines } from '../engines.ts'
import { fileState } from '../guarded-file.ts'
import type { Logger } from '../log.ts'
import { SettingsInvalid } from '../settings/rules.ts'
import { translate } from '../translate.ts'
import { createThreadCarrier } from './carrier.ts'
import { webhookDoorData } from './door.ts'
import { type WebhookEntry, WebhooksWrong } from './entries.ts'
import { readWebhooks } from './file.ts'

/**
 * Delivers webhooks by the file that the settings name, and by what that says later. A wrong file at the start ends it;
 * of one that is wrong later nothing is taken, and what stood there before holds on.
 */
export const startWebhooks = async (engines: Engines): Promise<{ stop(): Promise<void> }> => {
  // What it asks takes milliseconds, and a lease leaves no time to be patient with a database that is silent.
  const { settings, clock, log, report, database } = engines
  const path = settings.webhooksFile
  if (path === null) return { stop: async () => {} }
  let state = await fileState(path)
  const first = await readWebhooks(path).catch((error: unknown) => {
    if (!(error instanceof WebhooksWrong)) throw error
    log.error({ event: 'worker.unavailable', path, faults: error.faults }, 'the file of webhooks is wrong')
    throw new SettingsInvalid(error.faults.map((fault) => `SVC_WEBHOOKS_FILE: ${path}: ${fault}`))
  })
  const carrier = createThreadCarrier({ door: await webhookDoorData(settings), clock, report })
  const watch = watchJournal({
    database,
    everyMs: changesLookEveryMs,
    waitingMax: 2 * webhooksMax,
    waitingPerCallerMax: 2,
  })
  const holder = randomUUID()
  const followers = new Followers({
    database,
    clock,
    carrier,
    reading: new Reading(database),
    noting: new Noting({ database, clock }, holder),
    watch,
    holder,
    tell: (told) => logTold(log, told),
    known: (error) => translate(error)?.message ?? null,
  })
  let texts = new Map<string, string>()
  let files = new Map<string, SecretFiles>()
  const follow = async (entries: readonly WebhookEntry[]): Promise<void> => {
    const changed = entries.filter(
      (entry) => (texts.get(entry.id) ?? '') !== '' && texts.get(entry.id) !== JSON.stringify(entry),
    )
    texts = new Map(entries.map((entry) => [entry.id, JSON.stringify(entry)]))
    files = new Map(entries.map((entry) => [entry.id, entry]))
    await followers.follow(
      entries.map(({ id, repository, url, actions, secretFile, nextSecretFile }) => ({
        subscription: { id, repository, url, actions },
        secretFiles: () => files.get(id) ?? { secretFile, nextSecretFile },
      })),
      new Set(changed.map(({ id }) => id)),
    )
  }
  await follow(first)
  const look = async (): Promise<void> => {
    const now = await fileState(path)
    if (now !== state) {
      state = now
      try {
        const entries = await readWebhooks(path)
        await follow(entries)
        log.info({ event: 'webhooks.read', path, webhooks: entries.length }, 'the file of webhooks was read again')
      } catch (error) {
        if (!(error instanceof WebhooksWrong)) throw error
        const facts = { event: 'webhooks.refused', path, faults: error.faults }
        log.error(facts, 'the file of webhooks is wrong; what it said before holds on')
      }
    }
    await followers.prune()
  }
  const looking = startReconciler({
    name: 'the look at the file of webhooks',
    everyMs: webhooksLookEveryMs,
    run: look,
    report,
  })
  return {
    async stop() {
      await looking.stop()
      await followers.stop()
      watch.end()
      await carrier.close()
    },
  }
}

const words = {
  'webhook.started': ['info', 'a webhook is delivered from here on'],
  'webhook.step_failed': ['warn', 'a delivery of a webhook failed'],
  'webhook.recovered': ['info', 'a webhook is delivered again'],
  'webhook.stopped': ['info', 'a webhook is delivered by this process no more'],
  'webhook.events_lost': ['error', 'events were forgotten before a webhook was sent them'],
  'webhook.prune_failed': ['warn', 'webhooks that the file names no more could not be given up'],
} as const satisfies Record<Told['event'], readonly ['info' | 'warn' | 'error', string]>

const logTold = (log: Logger, { event, webhook, facts }: Told): void => {
  const [level, message] = words[event]
  log[level]({ event, ...(webhook === '' ? {} : { webhook }), ...facts }, message)
}
