import { createSmallFiles } from '../../content/serve/small-files.ts'
import type { Operation } from '../../contract/operation.ts'
import { createArchiveGate } from '../../features/catalog/packages/archive-gate.ts'
import { type AccessDeps, heldActions, heldRepositories } from '../../features/identity/access/access.ts'
import type { FileKey } from '../../features/identity/access/file-keys.ts'
import { registrationOpen } from '../../features/identity/accounts/accounts.ts'
import { createSigner } from '../../features/identity/links/signer.ts'
import { administeredActions } from '../../features/identity/service-accounts/delegations.ts'
import { createPasswords } from '../../features/identity/sessions/passwords.ts'
import { createPointReader } from '../../features/operating/backups/point-reader.ts'
import { watchReadiness } from '../../features/operating/health/readiness.ts'
import type { HttpMetrics } from '../../http/metrics/metrics.ts'
import type { JournalWatch } from '../../journal/repository/watch.ts'
import { timestamp } from '../../kernel/clock.ts'
import { grantsMax } from '../../kernel/limits/identity.ts'
import { openBackupRoom } from '../backup-vault.ts'
import { openConsoleFiles } from '../console-files.ts'
import type { Downloads } from '../downloads.ts'
import type { Engines } from '../engines.ts'
import type { NpmUpstream } from '../npm-upstream/open.ts'
import { metricsOfAll, transfersOfAll } from '../process-metrics.ts'
import { type ApiNeeds, formatsOfSlices, keptOfSlices } from '../slices.ts'
import { transfersNow } from '../transfers-now.ts'
import { programVersion } from '../version.ts'

interface Given {
  readonly engines: Engines
  readonly access: AccessDeps
  readonly keys: readonly FileKey[]
  readonly role: 'api' | 'reader'
  readonly operations: readonly Operation[]
  readonly metrics: HttpMetrics
  readonly downloads: Downloads
  readonly watch: JournalWatch
  readonly npmUpstream: NpmUpstream
  readonly isDraining: () => boolean
}

/** What the handlers of all slices need: the parts and settings by their names, and what only a gateway has. */
export const handlerNeeds = (given: Given): ApiNeeds => {
  const { engines, access, keys, role, operations, metrics, downloads, watch, npmUpstream, isDraining } = given
  const { database, clock, settings } = engines
  const accounts = { ...engines, passwords: createPasswords(), allowRegistration: settings.allowRegistration }
  return {
    ...engines,
    ...settings,
    ...accounts,
    instanceName: settings.instanceName,
    fileKeys: keys,
    findFileKey: access.findFileKey,
    findNamedFileKey: access.findNamedFileKey,
    smallFiles: createSmallFiles(),
    admission: downloads.admission,
    redirects: settings.redirectDownloads,
    proxyFiles: settings.sendByProxy,
    role,
    readiness: watchReadiness({
      dependencies: [
        { what: 'The database', probe: () => database.probe() },
        { what: 'The blob store', probe: () => engines.store.probe() },
      ],
      clock,
      isDraining,
    }),
    backupsConfigured: settings.backupVault !== null,
    points: createPointReader(() => openBackupRoom(settings)),
    storeKind: settings.blobStore.kind,
    startedAt: timestamp(performance.timeOrigin),
    sharedDownloads: () => downloads.shared?.state ?? null,
    transfers: () => transfersOfAll(() => transfersNow(metrics, downloads)),
    metrics: (withCatalog) => metricsOfAll(metrics, withCatalog),
    operations,
    version: programVersion(),
    selfRegistration: () => registrationOpen(accounts),
    heldActions: (caller, repository) => heldActions(database.reader, caller, repository),
    heldActionsIn: heldActions,
    countsIn: countsIn(engines),
    heldRepositories: (caller) => heldRepositories(access, caller, '', grantsMax),
    visibleRepositories: (caller, after, limit) => heldRepositories(access, caller, after, limit, ['repository.read']),
    repositoriesHolding: async (caller, needed, after, limit) =>
      (await heldRepositories(access, caller, after, limit, needed)).map(({ repository }) => repository),
    administrationActions: (caller) => administeredActions(database.reader, caller),
    signer: createSigner({ database, clock }),
    archiveGate: createArchiveGate(),
    keptKinds: [...keptOfSlices, ...(engines.more ?? []).flatMap(({ kept }) => kept)],
    watch,
    consoleFiles: openConsoleFiles(),
    npmUpstream: npmUpstream.upstream,
  }
}

/** How many of each format repositories have, of those that somebody may list. */
const countsIn =
  (engines: Engines): ApiNeeds['countsIn'] =>
  async (held, most) => {
    const found: { readonly format: string; readonly counts: ReadonlyMap<string, number> }[] = []
    for (const { name: format, listedBy, countIn } of formatsOfSlices) {
      const listed = [...held].filter(([, actions]) => actions.has(listedBy)).map(([repository]) => repository)
      found.push({ format, counts: await countIn(engines, listed, most) })
    }
    return (repository) =>
      found.flatMap(({ format, counts }) => {
        const count = counts.get(repository) ?? 0
        return count === 0 ? [] : [{ format, count }]
      })
  }
