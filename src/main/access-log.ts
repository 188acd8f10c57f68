import type { Measure } from '../http/metrics/measures.ts'
import type { RequestFacts } from '../http/replies/facts.ts'
import { actorOf, type Caller } from '../kernel/caller.ts'
import { withoutCredentials } from '../kernel/credentials.ts'
import type { Failure } from '../kernel/failure.ts'
import { countedLinesEach, countedLinesMax } from '../kernel/limits/http.ts'
import { networkOf } from '../kernel/networks.ts'
import { minute } from '../kernel/units.ts'
import { type Logger, linesLost } from './log.ts'

/**
 * The log of requests: a line each, whose level says whether it needs a person. What is refused, or comes from somebody
 * whom nobody knows, may fill no disk: each network has so many such lines a minute, and one line tells how many were
 * left out. Known callers, and accounts whose passwords are tried, have lines of their own: no flood of others hides
 * them.
 */
export interface AccessLog {
  /** Told of each request when it is over. */
  readonly requestOver: (facts: RequestFacts) => void
  readonly measures: readonly Measure[]
}

type Level = 'debug' | 'info' | 'warn'

/** Refusals with these statuses are worth a look; that no credential was sent is how many clients begin. */
const telling: ReadonlySet<number> = new Set([401, 403, 429, 507])
const isTelling = (failure: Failure | null): failure is Failure =>
  failure !== null && telling.has(failure.status) && failure.code !== 'credential_missing'

const isCut = ({ whole, received, sent }: RequestFacts): boolean => !whole && received + sent > 0

const levelOf = (facts: RequestFacts): Level => {
  if (isTelling(facts.failure) || isCut(facts) || facts.proxyFailed) return 'warn'
  return facts.operation?.whileDraining === true ? 'debug' : 'info'
}

/** Longer ones hold names that somebody sent. */
const whyCharactersMax = 300

const whyOf = (failure: Failure): object => ({
  why: withoutCredentials(failure.message).slice(0, whyCharactersMax),
  ...failure.forOperator,
})

const who = (caller: Caller | null): object => {
  if (caller === null) return {}
  const named = caller.kind === 'account' ? { name: caller.name } : {}
  return { caller: actorOf(caller), ...named, ...(caller.kind === 'service-key' ? { key: caller.keyId } : {}) }
}

const lineOf = (facts: RequestFacts): object => {
  const { requestId, method, path, operation, status, failure, milliseconds, clientAddress } = facts
  const { received, sent, leftToProxy } = facts
  return {
    requestId,
    method,
    path,
    status,
    operation: operation?.id,
    code: failure?.code,
    ...(isTelling(failure) ? whyOf(failure) : {}),
    ...(facts.proxyFailed ? { why: 'The proxy could not open the file that it was to send.' } : {}),
    received: received === 0 ? undefined : received,
    sent,
    leftToProxy: leftToProxy === 0 ? undefined : leftToProxy,
    milliseconds: Math.round(milliseconds * 10) / 10,
    ...who(facts.caller),
    address: clientAddress ?? undefined,
    cut: facts.whole ? undefined : true,
  }
}

/** `refused` hears of each request that was. */
export const createAccessLog = (
  log: Logger,
  everyRequest: boolean,
  refused: (failure: Failure) => void = () => {},
): AccessLog => {
  const tell = (leftOut: number): void =>
    log.warn({ leftOut }, 'requests that were refused, or whose callers nobody knows: lines were left out')
  const [strangers, callers, accounts] = [countLines(tell), countLines(tell), countLines(tell)]
  const mayTell = ({ caller, clientAddress, failure }: RequestFacts): boolean => {
    if (caller !== null) return callers.mayTell(actorOf(caller))
    const network = networkOf(clientAddress ?? '')
    const account = failure?.forOperator?.['account']
    return account === undefined ? strangers.mayTell(network) : accounts.mayTell(`${account} ${network}`)
  }
  let signInFailures = 0
  let refusedCredentials = 0
  let proxyFailed = 0
  return {
    requestOver(facts) {
      const { failure, caller } = facts
      if (failure !== null) refused(failure)
      if (facts.proxyFailed) proxyFailed += 1
      if (failure?.code === 'invalid_credentials') signInFailures += 1
      else if (failure?.status === 401 && failure.code !== 'credential_missing') refusedCredentials += 1
      const level = levelOf(facts)
      if ((level === 'info' && !everyRequest) || !log.isLevelEnabled(level)) return
      const counted = level !== 'debug' && (caller === null || level === 'warn')
      if (counted && !mayTell(facts)) return
      log[level](lineOf(facts), 'request')
    },
    measures: [
      {
        name: 'svc_downloads_proxy_failed_total',
        help: 'Downloads that the proxy in front was left to send and could not.',
        kind: 'counter',
        read: () => proxyFailed,
      },
      {
        name: 'svc_sign_in_failures_total',
        help: 'Sign-ins with a name or password that was wrong.',
        kind: 'counter',
        read: () => signInFailures,
      },
      {
        name: 'svc_credentials_refused_total',
        help: 'Requests with a credential that is unknown, revoked or expired.',
        kind: 'counter',
        read: () => refusedCredentials,
      },
      {
        name: 'svc_log_lines_dropped_total',
        help: 'Lines that were left out of the log: too many refusals, or nobody who took them.',
        kind: 'counter',
        read: () => strangers.leftOut + callers.leftOut + accounts.leftOut + linesLost(log),
      },
    ],
  }
}

/**
 * Counts lines by whose they are, a minute at a time; when one ends in which lines were left out, `tell` hears how
 * many.
 */
const countLines = (tell: (leftOut: number) => void) => {
  const ofEach = new Map<string, number>()
  let [all, leftOut, leftOutNow, endsMs] = [0, 0, 0, 0]
  const begin = (nowMs: number): void => {
    ofEach.clear()
    all = 0
    endsMs = nowMs + minute
  }
  const leave = (): void => {
    leftOut += 1
    leftOutNow += 1
    if (leftOutNow > 1) return
    const atTheEnd = () => {
      tell(leftOutNow)
      leftOutNow = 0
    }
    setTimeout(atTheEnd, Math.max(0, endsMs - performance.now())).unref()
  }
  return {
    get leftOut() {
      return leftOut
    },
    mayTell(whose: string): boolean {
      const nowMs = performance.now()
      if (nowMs >= endsMs) begin(nowMs)
      const told = ofEach.get(whose) ?? 0
      if (told >= countedLinesEach || all >= countedLinesMax) {
        leave()
        return false
      }
      ofEach.set(whose, told + 1)
      all += 1
      return true
    },
  }
}
