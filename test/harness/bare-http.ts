import assert from 'node:assert/strict'
import { createUploadLine } from '../../src/http/body/upload-line.ts'
import type { HttpDeps } from '../../src/http/given.ts'
import { createMetrics } from '../../src/http/metrics/metrics.ts'
import { createBudget } from '../../src/http/pipeline/budget.ts'
import type { Caller } from '../../src/kernel/caller.ts'
import { Failure } from '../../src/kernel/failure.ts'
import { realTimers } from '../../src/kernel/timers.ts'

/** The one credential that a gate below takes. */
export const knownSecret = 's'.repeat(40)

const keyOfFile: Caller = {
  kind: 'file-key',
  credential: 'file-key',
  id: 'some',
  administrator: false,
  serviceAdministrator: false,
  repositories: new Map(),
}

/** What the HTTP floor is given, without a service behind it: whoever has the credential may do anything. */
export const bareHttpParts = (given: Pick<HttpDeps, 'operations'> & Partial<HttpDeps>): HttpDeps => ({
  wires: [],
  gate: {
    authenticate: async (credential) => {
      if (credential !== knownSecret) throw new Failure('credential_invalid', 'No.')
      return keyOfFile
    },
    authenticateLink: () => Promise.reject(new Error('no links here')),
    authorizeAlso: async () => {},
    admission: () => ({}),
    authorize: async (caller, rule) => {
      if (caller === null && rule.kind !== 'anyone') throw new Failure('credential_missing', 'Sign in.')
    },
  },
  metrics: createMetrics(0),
  uploads: createUploadLine(realTimers, () => {}),
  forwardedByStranger: () => {},
  budget: createBudget(1_000, () => 0),
  readOnly: false,
  trustedProxies: [],
  baseUrl: 'https://files.example.com',
  onLoopback: false,
  corsOrigins: new Set(),
  uploadDeadlineSeconds: 600,
  reportBug: (error) => assert.ifError(error),
  translate: () => null,
  settled: async () => {},
  requestOver: () => {},
  ...given,
})
