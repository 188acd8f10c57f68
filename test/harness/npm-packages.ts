import { hash } from 'node:crypto'
import { after, before } from 'node:test'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { expectAnswer } from './expect.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from './people.ts'
import { type Answering, startService, type TestService } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'

/** A file, or something else, of a tarball. */
export interface TarEntry {
  readonly name: string
  readonly content?: string | Uint8Array
  readonly type?: 'file' | 'symlink' | 'link' | 'directory'
  readonly linkname?: string
}

const compress = promisify(gzip)

/** A gzipped archive of some entries. */
export const tarballOf = async (entries: readonly TarEntry[]): Promise<Buffer> => {
  const archive = pack()
  for (const { name, content = '', type = 'file', linkname } of entries)
    archive.entry({ name, type, ...(linkname === undefined ? {} : { linkname }) }, Buffer.from(content))
  archive.finalize()
  const pieces: Uint8Array[] = []
  for await (const piece of archive) if (piece instanceof Uint8Array) pieces.push(piece)
  return await compress(Buffer.concat(pieces))
}

export interface TestPackage {
  readonly name: string
  readonly version: string
  readonly [field: string]: unknown
}

/** The tarball of a package, as npm packs it. */
export const packed = (manifest: TestPackage, more: readonly TarEntry[] = []): Promise<Buffer> =>
  tarballOf([{ name: 'package/package.json', content: JSON.stringify(manifest) }, ...more])

export interface Published {
  readonly tarball: Buffer
  readonly document: Record<string, unknown>
}

/** What npm sends to publish a package. `change` makes it another document. */
export const publishDocument = async (
  manifest: TestPackage,
  {
    tag = 'latest',
    tarball,
    change = {},
  }: { readonly tag?: string; readonly tarball?: Buffer; readonly change?: Record<string, unknown> } = {},
): Promise<Published> => {
  const bytes = tarball ?? (await packed(manifest))
  const { name, version } = manifest
  const file = `${name}-${version}.tgz`
  const document = {
    _id: name,
    name,
    'dist-tags': { [tag]: version },
    versions: {
      [version]: {
        ...manifest,
        _id: `${name}@${version}`,
        dist: {
          integrity: `sha512-${hash('sha512', bytes, 'base64')}`,
          shasum: hash('sha1', bytes),
          tarball: `http://elsewhere.example/${file}`,
        },
      },
    },
    access: null,
    _attachments: {
      [file]: { content_type: 'application/octet-stream', data: bytes.toString('base64'), length: bytes.byteLength },
    },
    ...change,
  }
  return { tarball: bytes, document }
}

/** A name as npm writes it into an address. */
export const escaped = (name: string): string => name.replace('/', '%2f')

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

/** A bundle of Sigstore about a tarball; nobody signed it. */
export const attestationOf = ({ name, version }: TestPackage, tarball: Uint8Array): object => ({
  mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
  dsseEnvelope: {
    payloadType: 'application/vnd.in-toto+json',
    payload: Buffer.from(
      JSON.stringify({
        predicateType: 'https://slsa.dev/provenance/v1',
        subject: [
          { name: `pkg:npm/${name.replace('@', '%40')}@${version}`, digest: { sha512: hash('sha512', tarball) } },
        ],
      }),
    ).toString('base64'),
  },
})

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
