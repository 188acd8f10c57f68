import {
  databaseConnectMs,
  postgresChangesMax,
  postgresIdleInTransactionMs,
  postgresLockMs,
  postgresPatientLockMs,
  postgresPatientMax,
  postgresPatientStatementMs,
  postgresProbeMs,
  postgresProbesMax,
  postgresReadsMax,
  postgresSilenceMs,
  postgresStatementMs,
} from '../../kernel/limits/engines.ts'
import { unavailable } from './errors.ts'
import { Lane } from './lane.ts'
import type { Bounds } from './pool.ts'

const ofRequests: Bounds = {
  connections: postgresChangesMax,
  connectMs: databaseConnectMs,
  statementMs: postgresStatementMs,
  lockMs: postgresLockMs,
  idleInTransactionMs: postgresIdleInTransactionMs,
  silenceMs: postgresSilenceMs,
}

const ofPatience: Bounds = {
  ...ofRequests,
  connections: postgresPatientMax,
  statementMs: postgresPatientStatementMs,
  lockMs: postgresPatientLockMs,
  silenceMs: postgresPatientStatementMs + postgresProbeMs,
}

const ofProbes: Bounds = {
  ...ofRequests,
  connections: postgresProbesMax,
  connectMs: postgresProbeMs,
  silenceMs: postgresProbeMs,
}

/** Connections by what they are for. */
export interface Lanes {
  readonly changes: Lane
  readonly reads: Lane
  readonly patient: Lane
  readonly probes: Lane
}

export const openLanes = (url: string, onIdleError: (error: unknown) => void): Lanes => {
  const probes = new Lane(url, ofProbes, onIdleError)
  return {
    probes,
    changes: new Lane(url, ofRequests, onIdleError),
    reads: new Lane(url, { ...ofRequests, connections: postgresReadsMax }, onIdleError),
    patient: new Lane(url, ofPatience, onIdleError, () => probeThrough(probes)),
  }
}

/** Fails as unavailable unless the server answers now. */
export const probeThrough = async (probes: Lane): Promise<void> => {
  await probes
    .use((taken) => taken.query({ text: 'select 1' }))
    .catch((error: unknown) => {
      throw unavailable(error)
    })
}
