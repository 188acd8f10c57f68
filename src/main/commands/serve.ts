import cluster from 'node:cluster'
import { isLoopback } from '../../http/pipeline/hosts.ts'
import { noVault } from '../backup-vault.ts'
import { type Environment, realEnvironment } from '../engines.ts'
import { type Listens, startGateways } from '../gateways.ts'
import { type Logger, openLog } from '../log.ts'
import { type Roles, type Running, run } from '../run.ts'
import { readSettings, type Settings, unknownSettings } from '../settings/rules.ts'
import { stopAsked } from '../stop-signals.ts'
import { welcome } from './welcome.ts'

/**
 * Runs roles until SIGTERM or SIGINT, then drains and stops. A second signal, seconds later, ends the process at once.
 */
export const serve = async (roles: Roles, environment: Environment = realEnvironment): Promise<void> => {
  const settings = readSettings(process.env)
  const log = await openLog(settings.logLevel)
  if (cluster.isPrimary) for (const warning of unknownSettings(process.env)) log.warn(warning)
  if (cluster.isPrimary && roles.gateway !== null && takesAnyHost(settings))
    log.warn(
      'SVC_BASE_URL is not set: addresses in answers are made from the Host that each client sends; set it to the one that clients use',
    )
  // From now on, so that a signal while it starts is no sudden end.
  const asked = stopAsked()
  const running = await start(settings, log, roles, environment)
  log.info({ address: running.address, role: roles.gateway, worker: roles.worker }, 'started')
  await asked
  log.info('stopping: transfers under way may finish')
  await running.stop()
  log.info('stopped')
  // Idle workers of libraries must not keep a stopped service alive.
  process.exit(0)
}

/** Others than this machine may connect, and nothing says under which name they know us. */
const takesAnyHost = ({ baseUrl, listen }: Settings): boolean => baseUrl === null && !isLoopback(listen.host)

/** In this process, as one of several gateways, or as the one that starts them. */
const start = async (settings: Settings, log: Logger, roles: Roles, environment: Environment): Promise<Running> => {
  if (roles.gateway === null && !roles.worker && settings.backupVault === null) throw noVault()
  if (cluster.isWorker) {
    const running = await run(settings, log, { ...roles, worker: false, agent: false }, environment)
    process.send?.({ listens: running.address ?? '' } satisfies Listens)
    return running
  }
  const several = settings.processes > 1 && roles.gateway !== null
  const running = several
    ? await runSeveral(settings, log, roles, environment)
    : await run(settings, log, roles, environment)
  await announce(settings, roles, running)
  return running
}

/** Upkeep in this process, which goes first, since it may have to migrate; gateways in others. */
const runSeveral = async (
  settings: Settings,
  log: Logger,
  roles: Roles,
  environment: Environment,
): Promise<Running> => {
  const own = roles.worker ? await run(settings, log, { ...roles, gateway: null }, environment) : null
  const gateways = await startGateways(settings.processes, log).catch(async (error: unknown) => {
    await own?.stop()
    throw error
  })
  return {
    address: gateways.address,
    hasOwner: async () => own === null || own.hasOwner(),
    async stop() {
      await gateways.stop()
      await own?.stop()
    },
  }
}

const announce = async (settings: Settings, roles: Roles, running: Running): Promise<void> => {
  if (running.address === null)
    console.log(roles.worker ? 'svc is running the upkeep' : 'svc is running the backup agent')
  else console.log(await welcome(settings, running, roles.gateway === 'api'))
}
