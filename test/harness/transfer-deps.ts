import assert from 'node:assert/strict'
import { createHashing } from '../../src/content/hashing/hashing.ts'
import { createSmallBodies } from '../../src/content/ingest/small-bodies.ts'
import { createLeftLeases } from '../../src/features/transfers/uploads/left-leases.ts'
import type { TransferDeps } from '../../src/features/transfers/uploads/uploads.ts'
import { noFaults } from '../../src/kernel/fault-points.ts'
import { capacityBytesDefault } from '../../src/kernel/limits/transfers.ts'
import type { Inspection } from './inspection.ts'
import type { TestService } from './service.ts'

/** What it takes to receive a file beside a service, as another process would on a disk that is never full. */
export const transferDeps = (
  { clock }: Pick<TestService, 'clock'>,
  { database, store }: Pick<Inspection, 'database' | 'store'>,
  maxObjectBytes: number,
): TransferDeps => ({
  database,
  store,
  clock,
  freeSpace: {
    writable: async () => true,
    roomBytes: async () => null,
    freeBytes: async () => null,
    refuseUnlessRoomFor: async () => {},
  },
  uploadSharePercent: 100,
  hashing: createHashing({ saveable: false, report: assert.fail }),
  smallBodies: createSmallBodies(0),
  capacityBytes: capacityBytesDefault,
  maxObjectBytes,
  reach: noFaults,
  leftLeases: createLeftLeases(),
  report: (message, error) => assert.fail(new Error(message, { cause: error })),
})
