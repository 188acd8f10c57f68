import { isIPv6 } from 'node:net'
import { bound } from '../../contract/slice.ts'
import { type FileKey, fileKeyFinder, namedFileKeyFinder } from '../../features/identity/access/file-keys.ts'
import { createUploadLine } from '../../http/body/upload-line.ts'
import { createBudget } from '../../http/pipeline/budget.ts'
import { isLoopback } from '../../http/pipeline/hosts.ts'
import { createHttpServer } from '../../http/server.ts'
import { watchJournal } from '../../journal/repository/watch.ts'
import { changesLookEveryMs, changesWaitingMax, changesWaitingPerCallerMax } from '../../kernel/limits/catalog.ts'
import { createAccessLog } from '../access-log.ts'
import { catalogue } from '../catalogue.ts'
import { openDownloads } from '../downloads.ts'
import type { Engines } from '../engines.ts'
import { openNpmUpstream } from '../npm-upstream/open.ts'
import { npmUpstreamMeasures } from '../npm-upstream-measures.ts'
import { slices } from '../slices.ts'
import { blaming } from '../start-errors.ts'
import { translate } from '../translate.ts'
import { openGate } from './gate.ts'
import { gatewayMetrics } from './gateway-metrics.ts'
import { handlerNeeds } from './handler-needs.ts'

export interface Gateway {
  /** Where it answers, such as `http://127.0.0.1:8080`. */
  readonly address: string
  /** Answers 503 `draining`, waits for transfers within the bound, then closes. */
  close(): Promise<void>
}

/** Once: whoever sends the header could otherwise fill the log. */
const warnOnceOfProxy = (log: Engines['log']): ((peer: string) => void) => {
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

const consoleMissing = '/console/ was not built: in a checkout, npm run build:console builds it'

/** Serves HTTP: everything as `api`, GET and HEAD as `reader`. Resolves once it listens. */
export const startGateway = async (
  engines: Engines,
  keys: readonly FileKey[],
  role: 'api' | 'reader',
): Promise<Gateway> => {
  const { database, clock, settings, report, log, more = [] } = engines
  const readOnly = role === 'reader'
  let draining = false
  const fileKeys = { findFileKey: fileKeyFinder(keys), findNamedFileKey: namedFileKeyFinder(keys) }
  const access = { database, clock, report, ...fileKeys, readOnly }
  const downloads = await openDownloads(engines, role)
  const watch = watchJournal({
    database,
    everyMs: changesLookEveryMs,
    waitingMax: changesWaitingMax,
    waitingPerCallerMax: changesWaitingPerCallerMax,
  })
  const metrics = gatewayMetrics(engines, downloads, watch)
  const npmUpstream = await openNpmUpstream(engines, role)
  metrics.show(npmUpstreamMeasures(npmUpstream.meter))
  const accessLog = createAccessLog(engines.log, settings.accessLog, (failure) => engines.outages.notice(failure))
  metrics.show(accessLog.measures)
  const operations = catalogue(more)
  const isDraining = (): boolean => draining
  const needs = handlerNeeds({
    engines,
    access,
    keys,
    role,
    operations,
    metrics,
    downloads,
    watch,
    npmUpstream,
    isDraining,
  })
  if (needs.consoleFiles === null) log.warn(consoleMissing)
  const served = [...slices, ...more]
  const server = await createHttpServer({
    ...httpParts(engines),
    requestOver: accessLog.requestOver,
    operations: served.flatMap((slice) => bound(slice, needs)),
    wires: served.flatMap(({ wire }) => wire ?? []),
    gate: openGate(access),
    metrics,
    readOnly,
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
      watch.end()
      downloads.admission.close()
      await Promise.all([closed, npmUpstream[Symbol.asyncDispose]()])
      await downloads.shared?.stop()
    },
  }
}

/** What the HTTP floor is given that settings and parts say alone. */
const httpParts = ({ settings, database, timers, log, outages }: Engines) => ({
  uploads: createUploadLine(timers, (bytesPerSecond) =>
    log.info(
      { bytesPerSecond },
      'an upload was cut: its client sent too little while others waited; it may send it again',
    ),
  ),
  forwardedByStranger: warnOnceOfProxy(log),
  budget: createBudget(settings.requestsPerSecond, () => performance.now()),
  trustedProxies: settings.trustedProxies,
  baseUrl: settings.baseUrl,
  onLoopback: isLoopback(settings.listen.host),
  corsOrigins: settings.corsOrigins,
  uploadDeadlineSeconds: settings.uploadDeadlineSeconds,
  translate: (error: unknown) => {
    outages.notice(error)
    return translate(error)
  },
  settled: () => database.settled(),
  reportBug: (error: unknown, context: Readonly<Record<string, string>>) =>
    log.error({ err: error, ...context }, 'a request failed because of a fault of ours'),
})
