import { isIPv6 } from 'node:net'
import { createSmallFiles } from '../../content/serve/small-files.ts'
import { bound } from '../../contract/slice.ts'
import { createArchiveTurns } from '../../features/catalog/packages/archive-turns.ts'
import {
  authenticate,
  authenticateLink,
  authorize,
  authorizeAlso,
  heldActions,
  heldRepositories,
} from '../../features/identity/access/access.ts'
import { Admission } from '../../features/identity/access/admission.ts'
import { type FileKey, fileKeyFinder } from '../../features/identity/access/file-keys.ts'
import { registrationOpen } from '../../features/identity/accounts/accounts.ts'
import { createLinkSigner } from '../../features/identity/links/links.ts'
import { administeredActions } from '../../features/identity/service-accounts/delegations.ts'
import { createPasswords } from '../../features/identity/sessions/passwords.ts'
import { watchReadiness } from '../../features/operating/health/readiness.ts'
import { createUploadLine } from '../../http/body/upload-line.ts'
import { createMetrics } from '../../http/metrics.ts'
import { createBudget } from '../../http/pipeline/budget.ts'
import { isLoopback } from '../../http/pipeline/hosts.ts'
import { createHttpServer } from '../../http/server.ts'
import { watchGrowth } from '../../journal/repository/growth.ts'
import { changesLookEveryMs, changesWaitingMax, changesWaitingPerCallerMax } from '../../kernel/limits/catalog.ts'
import { grantsMax } from '../../kernel/limits/identity.ts'
import { catalogue } from '../catalogue.ts'
import { databaseMeasures } from '../database-measures.ts'
import { downloadMeasures, openDownloads } from '../downloads.ts'
import type { Parts } from '../parts.ts'
import { metricsOfAll, offerMetrics } from '../process-metrics.ts'
import { quarantineMeasures } from '../quarantine-measures.ts'
import { reclaimMeasures } from '../reclaim-measures.ts'
import { type ApiNeeds, slices } from '../slices.ts'
import { blaming } from '../start-errors.ts'
import { translate } from '../translate.ts'
import { upkeepMeasures } from '../upkeep-measures.ts'
import { programVersion } from '../version.ts'

export interface Gateway {
  /** Where it answers, such as `http://127.0.0.1:8080`. */
  readonly address: string
  /** Answers 503 `draining`, waits for transfers within the bound, then closes. */
  close(): Promise<void>
}

/** Once: whoever sends the header could otherwise fill the log. */
const warnOnceOfProxy = (log: Parts['log']): ((peer: string) => void) => {
  let warned = false
  return (peer) => {
    if (warned) return
    warned = true
    log.warn(
      { peer },
      'a request came with X-Forwarded-For from a peer that SVC_TRUSTED_PROXIES does not name: all clients behind it count as one, also when they sign in',
    )
  }
}

/** Serves HTTP: everything as `api`, GET and HEAD as `reader`. Resolves once it listens. */
export const startGateway = async (
  parts: Parts,
  keys: readonly FileKey[],
  role: 'api' | 'reader',
): Promise<Gateway> => {
  const { database, clock, settings, log, more = [] } = parts
  const operations = catalogue(more)
  const served = [...slices, ...more]
  const metrics = createMetrics(Math.floor(clock.now() / 1000))
  offerMetrics(metrics.registry)
  metrics.show(reclaimMeasures(database, clock, parts.meter))
  metrics.show(upkeepMeasures(database, clock))
  metrics.show(quarantineMeasures(database, clock))
  metrics.show(databaseMeasures(database.log))
  let draining = false
  const access = {
    database,
    clock,
    report: parts.report,
    findFileKey: fileKeyFinder(keys),
    readOnly: role === 'reader',
  }
  const accountParts = {
    database,
    clock,
    passwords: createPasswords(),
    allowRegistration: settings.allowRegistration,
  }
  const downloads = await openDownloads(parts, role)
  metrics.show(downloadMeasures(downloads))
  downloads.meter.waited = metrics.timing('svc_download_wait_seconds', 'Time that downloads waited for a slot.')
  const readiness = watchReadiness({
    dependencies: [
      { what: 'The database', probe: () => database.probe() },
      { what: 'The blob store', probe: () => parts.store.probe() },
    ],
    clock,
    isDraining: () => draining,
  })
  const growth = watchGrowth({
    database,
    everyMs: changesLookEveryMs,
    waitingMax: changesWaitingMax,
    waitingPerCallerMax: changesWaitingPerCallerMax,
  })
  metrics.show([
    {
      name: 'svc_changes_waiting',
      help: 'Requests that wait for the next change of a repository.',
      kind: 'gauge',
      read: () => growth.waiting,
    },
  ])
  const needs: ApiNeeds = {
    ...parts,
    ...settings,
    ...accountParts,
    fileKeys: keys,
    smallFiles: createSmallFiles(),
    admission: downloads.admission,
    redirects: settings.redirectDownloads,
    role,
    readiness,
    downloads: () => downloads.admission.state,
    sharedDownloads: () => downloads.shared?.state ?? null,
    transfers: (direction) => metrics.transfers(direction),
    metrics: () => metricsOfAll(metrics.registry),
    operations,
    version: programVersion(),
    selfRegistration: () => registrationOpen(accountParts),
    heldActions: (caller, repository) => heldActions(database.reader, caller, repository),
    heldActionsIn: heldActions,
    heldRepositories: (caller) => heldRepositories(access, caller, '', grantsMax),
    visibleRepositories: (caller, after, limit) => heldRepositories(access, caller, after, limit, 'repository.read'),
    administrationActions: (caller) => administeredActions(database.reader, caller),
    signer: createLinkSigner({ database, clock }),
    inTurn: createArchiveTurns(),
    growth,
  }
  const server = await createHttpServer({
    operations: served.flatMap((slice) => bound(slice, needs)),
    wires: served.flatMap(({ wire }) => wire ?? []),
    gate: {
      authenticate: (credential) => authenticate(access, credential),
      authenticateLink: (token, parameters) => authenticateLink(access, token, parameters),
      authorize: (caller, rule, parameters) => authorize(database.reader, caller, rule, parameters),
      authorizeAlso: (caller, second, repository) => authorizeAlso(database.reader, caller, second, repository),
      admission: (caller, question) => new Admission(access, caller, question),
    },
    metrics,
    uploads: createUploadLine(parts.timers, (bytesPerSecond) =>
      log.info(
        { bytesPerSecond },
        'an upload was cut: its client sent too little while others waited; it may send it again',
      ),
    ),
    forwardedByStranger: warnOnceOfProxy(log),
    budget: createBudget(settings.requestsPerSecond, () => performance.now()),
    readOnly: role === 'reader',
    trustedProxies: settings.trustedProxies,
    baseUrl: settings.baseUrl,
    onLoopback: isLoopback(settings.listen.host),
    corsOrigins: settings.corsOrigins,
    uploadDeadlineSeconds: settings.uploadDeadlineSeconds,
    translate,
    settled: () => database.settled(),
    reportBug: (error, context) => log.error({ err: error, ...context }, 'a request failed because of a fault of ours'),
    logAnswer: (facts) => log.debug(facts, 'answered'),
  })
  const { host, port } = settings.listen
  const address = await blaming('SVC_LISTEN', `${isIPv6(host) ? `[${host}]` : host}:${port}`, () =>
    server.listen(host, port),
  )
  return {
    address,
    async close() {
      draining = true
      const closed = server.close()
      // Those who wait get their answer now, like everyone whose request is under way.
      growth.end()
      downloads.admission.close()
      await closed
      await downloads.shared?.stop()
    },
  }
}
