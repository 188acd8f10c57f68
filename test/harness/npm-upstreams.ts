import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { escaped } from './npm-documents.ts'
import { npmPublisher } from './npm-packages.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from './people.ts'
import { type Answering, startService, type TestService } from './service.ts'

/** A file of credentials in a folder of its own. */
export const credentialsFile = async (
  lines: readonly string[],
): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-npmrc-'))
  const path = join(folder, 'npmrc')
  await writeFile(path, lines.join('\n'), { mode: 0o600 })
  return { path, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Says to which registry a repository looks through. */
export const lookThrough = (
  service: Answering,
  repository: string,
  json: { readonly url: string; readonly reserved?: readonly string[]; readonly freshSeconds?: number },
  headers: Record<string, string> = {},
): Promise<Told> =>
  expectAnswer(
    service,
    {
      method: 'PUT',
      path: `/api/v1/repositories/${repository}/npm-upstream`,
      credential: service.recoveryKey,
      json,
      headers,
    },
    200,
  )

/** Asks a registry as a client does. */
export const npmClient = (service: Answering, credential: string, repository = 'releases') => {
  const ask = (path: string, headers: Record<string, string> = {}, more: Partial<Ask> = {}): Promise<Told> =>
    service.ask({ path: `/npm/${repository}${path}`, credential, headers, ...more })
  return {
    ask,
    document: (name: string, headers?: Record<string, string>) => ask(`/${escaped(name)}`, headers),
    tarball: (name: string, version: string) => ask(`/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`),
    /** What is kept of an upstream. */
    kept: async (): Promise<Told['json'][]> =>
      (
        await expectAnswer(
          service,
          { path: `/api/v1/repositories/${repository}/npm-upstream/packages`, credential },
          200,
        )
      ).json.items,
  }
}

/** Two services: the second looks through to the first, which wants a credential. */
export const upstreamSite = (engine: TestEngine) => {
  let upstream: TestService
  let service: TestService
  let publisher: Person
  let owner: Person
  let reader: Person
  let file: Awaited<ReturnType<typeof credentialsFile>>
  before(async () => {
    upstream = await startService(engine)
    publisher = await createOwner(upstream)
    const { host } = new URL(upstream.url)
    file = await credentialsFile([`//${host}/npm/releases/:_authToken=${publisher.token}`])
    service = await startService(engine, {
      settings: { SVC_NPM_UPSTREAM_CREDENTIALS_FILE: file.path },
    })
    owner = await createOwner(service)
    reader = await createPerson(service, 'reader')
    await grant(service, reader, 'releases', 'read')
    await createRepository(service, 'other')
    await lookThrough(service, 'releases', {
      url: `${upstream.url}/npm/releases/`,
      reserved: ['@acme/*'],
      freshSeconds: 0,
    })
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
    await file.remove()
  })
  return {
    get upstream() {
      return upstream
    },
    get service() {
      return service
    },
    get owner() {
      return owner
    },
    get reader() {
      return reader
    },
    /** Publishes there. */
    get there() {
      return npmPublisher(upstream, publisher.token)
    },
    /** Publishes here. */
    get here() {
      return npmPublisher(service, owner.token)
    },
    /** Reads here. */
    get client() {
      return npmClient(service, reader.token)
    },
  }
}
