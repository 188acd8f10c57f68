import { refuseForeignStore } from '../content/claims/ownership.ts'
import { anyAccount } from '../features/identity/accounts/accounts.ts'
import { refuseUnfinishedImport } from '../features/operating/moving/unfinished.ts'
import { openKeys } from './keys-file.ts'
import type { Logger } from './log.ts'
import { makeDataDir, openParts, type Stage } from './parts.ts'
import { startGateway } from './roles/api.ts'
import { startWorker } from './roles/worker.ts'
import type { Settings } from './settings/rules.ts'
import { blaming } from './start-errors.ts'

/** Which parts of the service run in this process. */
export interface Roles {
  readonly gateway: 'api' | 'reader' | null
  readonly worker: boolean
}

export interface Running {
  /** Where the gateway answers; null without one. */
  readonly address: string | null
  /** True once an account exists. */
  hasOwner(): Promise<boolean>
  /** Stops in the reverse order of the start: gateway (which drains), worker, engines. */
  stop(): Promise<void>
}

/** Starts the service: settings -> keys -> engines -> roles. What was started is stopped again if a later step fails. */
export const run = async (settings: Settings, log: Logger, roles: Roles, stage: Stage): Promise<Running> => {
  const stack = new AsyncDisposableStack()
  try {
    const readOnly = roles.gateway === 'reader' && !roles.worker
    const keys =
      roles.gateway === null
        ? []
        : await blaming('SVC_DATA_DIR', settings.dataDir, () => openKeys(settings, { readOnly }))
    if (!readOnly) await makeDataDir(settings)
    const parts = await openParts(settings, log, stage, stack, { readOnly })
    await refuseUnfinishedImport(parts.database)
    await refuseForeignStore(parts, { readOnly })
    if (roles.worker) {
      const worker = startWorker(parts)
      stack.defer(() => worker.stop())
    }
    const hasOwner = () => anyAccount(parts.database.reader)
    const stop = () => stack.disposeAsync()
    if (roles.gateway === null) return { address: null, hasOwner, stop }
    const gateway = await startGateway(parts, keys, roles.gateway)
    stack.defer(() => gateway.close())
    return { address: gateway.address, hasOwner, stop }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
