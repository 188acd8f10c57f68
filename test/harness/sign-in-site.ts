import { after, before } from 'node:test'
import type { Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { createOwner, type Person, password } from './people.ts'
import { startService, type TestService } from './service.ts'

const behindProxy = { SVC_TRUSTED_PROXIES: '127.0.0.1' }

/** Two gateways on one database, which believe who says where a client is; and addresses that nobody tried from. */
export const signInSite = (engine: TestEngine) => {
  let service: TestService
  let second: TestService
  let owner: Person
  before(async () => {
    service = await startService(engine, { settings: behindProxy })
    second = await startService(engine, {
      on: service,
      roles: { gateway: 'api', worker: false },
      settings: behindProxy,
    })
    owner = await createOwner(service)
  })
  after(async () => {
    await second.stop()
    await service.stop()
  })

  let addresses = 0
  return {
    get service() {
      return service
    },
    get second() {
      return second
    },
    get owner() {
      return owner
    },
    /** Of its own for each test, so that none is throttled for another's tries. */
    freshAddress: (): string => `203.0.113.${++addresses}`,
  }
}

export const signInFrom = (service: TestService, name: string, secret = password, from?: string): Promise<Told> =>
  service.ask({
    path: '/api/v1/auth/login',
    json: { name, password: secret },
    headers: from === undefined ? {} : { 'x-forwarded-for': from },
  })

/** Why a credential is refused; null where it works. */
export const refusalOf = async (service: TestService, credential: string): Promise<string | null> => {
  const told = await service.ask({ path: '/api/v1/auth/me', credential })
  return told.status === 200 ? null : told.json.code
}
