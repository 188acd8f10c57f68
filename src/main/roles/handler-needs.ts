import { createSmallFiles } from '../../content/serve/small-files.ts'
import type { Operation } from '../../contract/operation.ts'
import { createArchiveTurns } from '../../features/catalog/packages/archive-turns.ts'
import { type AccessParts, heldActions, heldRepositories } from '../../features/identity/access/access.ts'
import type { FileKey } from '../../features/identity/access/file-keys.ts'
import { registrationOpen } from '../../features/identity/accounts/accounts.ts'
import { createLinkSigner } from '../../features/identity/links/links.ts'
import { administeredActions } from '../../features/identity/service-accounts/delegations.ts'
import { createPasswords } from '../../features/identity/sessions/passwords.ts'
import { watchReadiness } from '../../features/operating/health/readiness.ts'
import type { HttpMetrics } from '../../http/metrics/metrics.ts'
import type { Growth } from '../../journal/repository/growth.ts'
import { grantsMax } from '../../kernel/limits/identity.ts'
import type { Downloads } from '../downloads.ts'
import type { Parts } from '../parts.ts'
import { metricsOfAll } from '../process-metrics.ts'
import type { ApiNeeds } from '../slices.ts'
import { programVersion } from '../version.ts'

interface Given {
  readonly parts: Parts
  readonly access: AccessParts
  readonly keys: readonly FileKey[]
  readonly role: 'api' | 'reader'
  readonly operations: readonly Operation[]
  readonly metrics: HttpMetrics
  readonly downloads: Downloads
  readonly growth: Growth
  readonly isDraining: () => boolean
}

/** What the handlers of all slices need: the parts and settings by their names, and what only a gateway has. */
export const handlerNeeds = (given: Given): ApiNeeds => {
  const { parts, access, keys, role, operations, metrics, downloads, growth, isDraining } = given
  const { database, clock, settings } = parts
  const accounts = { database, clock, passwords: createPasswords(), allowRegistration: settings.allowRegistration }
  return {
    ...parts,
    ...settings,
    ...accounts,
    fileKeys: keys,
    smallFiles: createSmallFiles(),
    admission: downloads.admission,
    redirects: settings.redirectDownloads,
    role,
    readiness: watchReadiness({
      dependencies: [
        { what: 'The database', probe: () => database.probe() },
        { what: 'The blob store', probe: () => parts.store.probe() },
      ],
      clock,
      isDraining,
    }),
    downloads: () => downloads.admission.state,
    sharedDownloads: () => downloads.shared?.state ?? null,
    transfers: (direction) => metrics.transfers(direction),
    metrics: () => metricsOfAll(metrics.registry),
    operations,
    version: programVersion(),
    selfRegistration: () => registrationOpen(accounts),
    heldActions: (caller, repository) => heldActions(database.reader, caller, repository),
    heldActionsIn: heldActions,
    heldRepositories: (caller) => heldRepositories(access, caller, '', grantsMax),
    visibleRepositories: (caller, after, limit) => heldRepositories(access, caller, after, limit, 'repository.read'),
    administrationActions: (caller) => administeredActions(database.reader, caller),
    signer: createLinkSigner({ database, clock }),
    inTurn: createArchiveTurns(),
    growth,
  }
}
