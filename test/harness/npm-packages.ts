import { after, before } from 'node:test'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { attestationOf, escaped, publishDocument, type TestPackage } from './npm-documents.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from './people.ts'
import { type Answering, startService, type TestService } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'

/** Publishes by what asks and insists on a status. */
export const npmPublisher = (service: Answering, credential: string, repository = 'releases') => {
  const at = (path: string): string => `/npm/${repository}${path}`
  const expect = (given: Ask, status: number): Promise<Told> => expectAnswer(service, { credential, ...given }, status)
  const put = (name: string, document: unknown, status = 201): Promise<Told> =>
    expect({ method: 'PUT', path: at(`/${escaped(name)}`), json: document }, status)
  const publish = async (
    manifest: TestPackage,
    options: Parameters<typeof publishDocument>[1] = {},
    status = 201,
  ): Promise<Buffer> => {
    const { tarball, document } = await publishDocument(manifest, options)
    await put(manifest.name, document, status)
    return tarball
  }
  const document = async (name: string, headers: Record<string, string> = {}): Promise<Told> =>
    expect({ path: at(`/${escaped(name)}`), headers }, 200)
  return { at, expect, put, publish, document }
}

/** Publishes a package with an attestation, and moves a second tag to it. */
export const publishAttested = async (
  { at, expect, put }: ReturnType<typeof npmPublisher>,
  manifest: TestPackage,
  tag: string,
): Promise<void> => {
  const { name, version } = manifest
  const { tarball, document } = await publishDocument(manifest)
  const data = JSON.stringify(attestationOf(manifest, tarball))
  const content_type = 'application/vnd.dev.sigstore.bundle.v0.3+json'
  const bundle = { [`${name}-${version}.sigstore`]: { content_type, data, length: data.length } }
  const attachments: unknown = document['_attachments']
  await put(name, { ...document, _attachments: Object.assign({}, attachments, bundle) })
  const path = at(`/-/package/${escaped(name)}/dist-tags/${tag}`)
  await expect({ method: 'PUT', path, json: version }, 200)
}

/** A service with a repository of npm packages, who writes there, who reads there, and a key that deletes. */
export const npmSite = (engine: TestEngine) => {
  let service: TestService
  let owner: Person
  let reader: Person
  let keeper: string
  before(async () => {
    service = await startService(engine)
    owner = await createOwner(service)
    reader = await createPerson(service, 'reader')
    await grant(service, reader, 'releases', 'read')
    await createRepository(service, 'hidden')
    const bindings = [binding('releases', 'artifact.delete', 'artifact.read', 'artifact.list', 'content.read')]
    const account = await createServiceAccount(service, bindings)
    keeper = (await activeKey(service, account.id, { bindings })).secret
  })
  after(() => service.stop())
  return {
    get service() {
      return service
    },
    get owner() {
      return owner
    },
    get reader() {
      return reader
    },
    get keeper() {
      return keeper
    },
    get npm() {
      return npmPublisher(service, owner.token)
    },
  }
}
