import type { CheckedDeps } from '../../content/checks/checks.ts'
import { slice } from '../../contract/slice.ts'
import { upkeepEveryMs } from '../../kernel/limits/upkeep.ts'
import { checkImages } from './checks.ts'
import { ociHandlers } from './handlers.ts'
import { settleImages } from './jobs.ts'
import { checkManifests } from './manifest-checks.ts'
import * as operations from './operations.ts'
import { ociWire } from './wire.ts'

/** The registry of container images: the OCI Distribution Specification. */
export const oci = slice({
  operations,
  handlers: ociHandlers,
  wire: ociWire,
  checks: [
    { of: 'images', look: (deps: CheckedDeps) => checkImages(deps) },
    { of: 'manifests of images', look: checkManifests, opensBytes: true },
  ],
  upkeep: [
    {
      name: 'images',
      what: 'the upkeep of images',
      everyMs: upkeepEveryMs,
      run: settleImages,
      wakes: 'reclaim',
    },
  ],
})
