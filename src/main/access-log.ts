import type { Measure } from '../http/metrics/measures.ts'
import type { RequestFacts } from '../http/replies/facts.ts'
import { actorOf, type Caller } from '../kernel/caller.ts'
import type { Failure } from '../kernel/failure.ts'
import { strangersLinesMax, strangersLinesPerNetwork } from '../kernel/limits/http.ts'
import { networkOf } from '../kernel/networks.ts'
import { minute } from '../kernel/units.ts'
import { type Logger, linesLost } from './log.ts'

/**
 * The log of requests: a line each, whose level says whether it needs a person. What is refused, or comes from somebody
 * whom nobody knows, may fill no disk: a network has so many such lines a minute, and one line tells how many were left
 * out.
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
  if (isTelling(facts.failure) || isCut(facts)) return 'warn'
  return facts.operation?.whileDraining === true ? 'debug' : 'info'
}

/** Longer ones hold names that somebody sent. */
const whyCharactersMax = 300

const whyOf = (failure: Failure): object => ({
  why: failure.message.slice(0, whyCharactersMax),
  ...failure.forOperator,
})

const who = (caller: Caller | null): object => {
  if (caller === null) return {}
  const named = caller.kind === 'account' ? { name: caller.name } : {}
  return { caller: actorOf(caller), ...named, ...(caller.kind === 'service-key' ? { key: caller.keyId } : {}) }
}

const lineOf = (facts: RequestFacts): object => {
  const { requestId, method, path, operation, status, failure, received, sent, milliseconds, clientAddress } = facts
  return {
    requestId,
    method,
    path,
    status,
    operation: operation?.id,
    code: failure?.code,
    ...(isTelling(failure) ? whyOf(failure) : {}),
    received: received === 0 ? undefined : received,
    sent,
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
  const strangers = countStrangers((leftOut) =>
    log.warn({ leftOut }, 'requests that were refused, or whose callers nobody knows: lines were left out'),
  )
  let signInFailures = 0
  let refusedCredentials = 0
  return {
    requestOver(facts) {
      const { failure, caller, clientAddress } = facts
      if (failure !== null) refused(failure)
      if (failure?.code === 'invalid_credentials') signInFailures += 1
      else if (failure?.status === 401 && failure.code !== 'credential_missing') refusedCredentials += 1
      const level = levelOf(facts)
      if ((level === 'info' && !everyRequest) || !log.isLevelEnabled(level)) return
      const counted = level !== 'debug' && (caller === null || level === 'warn')
      if (counted && !strangers.mayTell(networkOf(clientAddress ?? ''))) return
      log[level](lineOf(facts), 'request')
    },
    measures: [
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
        read: () => strangers.leftOut + linesLost(log),
      },
    ],
  }
}

/** Counts lines by networks, a minute at a time; when one ends in which lines were left out, `tell` hears how many. */
const countStrangers = (tell: (leftOut: number) => void) => {
  const ofNetworks = new Map<string, number>()
  let [all, leftOut, leftOutNow, endsMs] = [0, 0, 0, 0]
  const begin = (nowMs: number): void => {
    ofNetworks.clear()
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
    mayTell(network: string): boolean {
      const nowMs = performance.now()
      if (nowMs >= endsMs) begin(nowMs)
      const told = ofNetworks.get(network) ?? 0
      if (told >= strangersLinesPerNetwork || all >= strangersLinesMax) {
        leave()
        return false
      }
      ofNetworks.set(network, told + 1)
      all += 1
      return true
    },
  }
}
