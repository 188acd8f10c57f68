import type { BoundOperation } from '../contract/handler.ts'
import type { Wire } from '../contract/wire.ts'
import type { Failure } from '../kernel/failure.ts'
import type { UploadLine } from './body/upload-line.ts'
import type { HttpMetrics } from './metrics/metrics.ts'
import type { Budget } from './pipeline/budget.ts'
import type { TrustedProxies } from './pipeline/client-address.ts'
import type { Gate } from './pipeline/gate.ts'
import type { RequestFacts } from './replies/facts.ts'

/** Everything that the HTTP floor is given; it fetches nothing for itself. */
export interface HttpDeps {
  readonly operations: readonly BoundOperation[]
  /** Those of the protocols that speak otherwise than the interface of the service. */
  readonly wires: readonly Wire[]
  readonly gate: Gate
  readonly metrics: HttpMetrics
  readonly budget: Budget
  readonly uploads: UploadLine
  /** A read gateway answers 405 to everything that is not GET or HEAD. */
  readonly readOnly: boolean
  readonly trustedProxies: TrustedProxies
  readonly baseUrl: string | null
  /** True when only this machine can connect. */
  readonly onLoopback: boolean
  /** Called for each request that a peer forwards whom nobody told us to trust. */
  readonly forwardedByStranger: (peer: string) => void
  readonly corsOrigins: ReadonlySet<string>
  readonly uploadDeadlineSeconds: number
  /** Resolves once everything that could be read of the catalog at the call survives a power cut. */
  readonly settled: () => Promise<void>
  /** Called once for each bug, with what was asked and what was thrown. */
  readonly reportBug: (error: unknown, context: Readonly<Record<string, string>>) => void
  /** Thrown values that are no Failure but known conditions, such as a database that is away. */
  readonly translate: (error: unknown) => Failure | null
  /** Called once for each request, when its answer is out or its client is gone. */
  readonly requestOver: (facts: RequestFacts) => void
}
