import { refuseForeignStore } from '../content/claims/ownership.ts'
import { anyAccount } from '../features/identity/accounts/accounts.ts'
import { refuseUnfinishedImport } from '../features/operating/moving/unfinished.ts'
import { type Environment, makeDataDir, openEngines } from './engines.ts'
import { openKeys } from './keys-file.ts'
import type { Logger } from './log.ts'
import { startAgent } from './roles/agent.ts'
import { startGateway } from './roles/api.ts'
import { startWorker } from './roles/worker.ts'
import type { Settings } from './settings/rules.ts'
import { blaming } from './start-errors.ts'
import { startWebhooks } from './webhooks/start.ts'

/** Which parts of the service run in this process. */
export interface Roles {
  readonly gateway: 'api' | 'reader' | null
  readonly worker: boolean
  /** The backup agent, where the settings name a vault. */
  readonly agent?: boolean
}

export interface Running {
  /** Where the gateway answers; null without one. */
  readonly address: string | null
  /** True once an account exists. */
  hasOwner(): Promise<boolean>
  /** Stops in the reverse order of the start: gateway (which drains), worker, engines. */
  stop(): Promise<void>
}

/**
 * Starts the service: settings -> keys -> engines -> roles. What was started is stopped again if a later step fails.
 */
export const run = async (
  settings: Settings,
  log: Logger,
  roles: Roles,
  environment: Environment,
): Promise<Running> => {
  const stack = new AsyncDisposableStack()
  try {
    const readOnly = roles.gateway === 'reader' && !roles.worker && roles.agent !== true
    const keys =
      roles.gateway === null
        ? []
        : await blaming('SVC_DATA_DIR', settings.dataDir, () => openKeys(settings, { readOnly }))
    if (!readOnly) await makeDataDir(settings)
    const engines = await openEngines(settings, log, environment, stack, { readOnly })
    await refuseUnfinishedImport(engines.database)
    await refuseForeignStore(engines, { readOnly })
    if (roles.worker) {
      const worker = startWorker(engines)
      stack.defer(() => worker.stop())
      const webhooks = await startWebhooks(engines)
      stack.defer(() => webhooks.stop())
    }
    if (roles.agent === true) {
      const agent = startAgent(engines)
      stack.defer(() => agent.stop())
    }
    const hasOwner = () => anyAccount(engines.database.reader)
    const stop = () => stack.disposeAsync()
    if (roles.gateway === null) return { address: null, hasOwner, stop }
    const gateway = await startGateway(engines, keys, roles.gateway)
    stack.defer(() => gateway.close())
    return { address: gateway.address, hasOwner, stop }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
