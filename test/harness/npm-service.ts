import { type AskedFor, askedOf, keyWith } from './keys-from-outside.ts'
import { type LoneService, startLoneService } from './lone-service.ts'

/** What a service key may have to do there. */
export const reading = ['artifact.list', 'artifact.read', 'content.read'] as const
export const publishing = [
  ...reading,
  'asset.read',
  'asset.write',
  'package.publish',
  'upload.complete',
  'upload.create',
  'upload.write',
] as const
export const everything = [...publishing, 'artifact.delete'] as const

/** A service with npm registries, and credentials for them. */
export interface NpmService extends AsyncDisposable {
  readonly service: LoneService
  /** The address of a registry, as clients are set to it. */
  registry(repository?: string): string
  /** A service key with these actions by repository. */
  keyFor(held: Readonly<Record<string, readonly string[]>>): Promise<string>
  /** Lines of `.npmrc` for one registry and a credential for it. */
  npmrc(secret: string, repository?: string): string[]
  /** Asks the service; fails on another status. The recovery key asks, unless somebody else is said. */
  readonly told: AskedFor
}

/** Starts it; `name` is in the name of its folder. */
export const startNpmService = async (name: string): Promise<NpmService> => {
  const service = await startLoneService(name, { SVC_LOG_LEVEL: 'info' })
  const { host } = new URL(service.address)
  const told = askedOf(service)
  return {
    service,
    told,
    registry: (repository = 'releases') => `${service.address}/npm/${repository}/`,
    npmrc: (secret, repository = 'releases') => [
      `registry=${service.address}/npm/${repository}/`,
      `//${host}/npm/${repository}/:_authToken=${secret}`,
    ],
    keyFor: (held) => keyWith(told, held),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
