import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import type { Ask, Told } from './client.ts'
import type { TestEngine } from './engines.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from './people.ts'
import { type ServiceOptions, startService, type TestService } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'

export const imageType = 'application/vnd.oci.image.manifest.v1+json'
export const indexType = 'application/vnd.oci.image.index.v1+json'

export const sha256 = (bytes: string | Uint8Array): string => `sha256:${hash('sha256', bytes)}`
export const sha512 = (bytes: string | Uint8Array): string => `sha512:${hash('sha512', bytes)}`

export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export const described = (bytes: string | Uint8Array, mediaType: string, digest = sha256(bytes)): Descriptor => ({
  mediaType,
  digest,
  size: Buffer.byteLength(bytes),
})

/** A manifest as it is sent, with its digest. */
export interface Pushed {
  readonly text: string
  readonly digest: string
  readonly type: string
}

export const manifestOf = (fields: object, type = imageType): Pushed => {
  const text = JSON.stringify({ schemaVersion: 2, mediaType: type, ...fields })
  return { text, digest: sha256(text), type }
}

export const configType = 'application/vnd.oci.image.config.v1+json'
export const layerType = 'application/vnd.oci.image.layer.v1.tar+gzip'

/** Pushes by what asks and insists on a status. */
export const pusher = (expect: (given: Ask, status: number) => Promise<Told>) => {
  /** Sends a blob as most clients do: an upload, and everything with its last request. */
  const pushBlob = async (image: string, bytes: string | Uint8Array, digest = sha256(bytes)): Promise<Descriptor> => {
    const begun = await expect({ method: 'POST', path: `/v2/${image}/blobs/uploads/` }, 202)
    const path = `${begun.headers.location}?digest=${digest}`
    const told = await expect({ method: 'PUT', path, body: bytes }, 201)
    assert.equal(told.headers.location, `/v2/${image}/blobs/${digest}`)
    assert.equal(told.headers['docker-content-digest'], digest)
    return described(bytes, 'application/octet-stream', digest)
  }

  const pushManifest = (image: string, manifest: Pushed, reference: string, status = 201): Promise<Told> =>
    expect(
      {
        method: 'PUT',
        path: `/v2/${image}/manifests/${reference}`,
        headers: { 'content-type': manifest.type },
        body: manifest.text,
      },
      status,
    )

  /** An image of a config and a layer, whose blobs are there. */
  const newImage = async (image: string, more: object = {}): Promise<Pushed> => {
    const config = JSON.stringify({ architecture: 'amd64', os: 'linux', nonce: randomBytes(8).toString('hex') })
    const layer = randomBytes(1000)
    await pushBlob(image, config)
    await pushBlob(image, layer)
    return manifestOf({ config: described(config, configType), layers: [described(layer, layerType)], ...more })
  }

  /** The same, pushed under a tag. */
  const pushImage = async (image: string, tag: string, more: object = {}): Promise<Pushed> => {
    const manifest = await newImage(image, more)
    await pushManifest(image, manifest, tag)
    return manifest
  }

  return { pushBlob, pushManifest, newImage, pushImage }
}

/** A service with a repository `releases` that its owner may write to, and a second one. */
export const imageSite = (engine: TestEngine, options: ServiceOptions = {}) => {
  let service: TestService
  let owner: Person
  let reader: Person
  let key: string
  before(async () => {
    service = await startService(engine, options)
    owner = await createOwner(service)
    await createRepository(service, 'second')
    await grant(service, owner, 'second', 'write')
    reader = await createPerson(service, 'reader')
    await grant(service, reader, 'releases', 'read')
    const deletes = binding('releases', 'content.read', 'artifact.read', 'artifact.list', 'artifact.delete')
    const robot = await createServiceAccount(service, [deletes])
    key = (await activeKey(service, robot.id, { bindings: [deletes] })).secret
  })
  after(() => service.stop())

  const ask = (given: Ask): Promise<Told> => service.ask({ credential: owner.token, ...given })
  const expect = async (given: Ask, status: number, code?: string): Promise<Told> => {
    const told = await ask(given)
    const what = `${given.method ?? ''} ${given.path}: ${told.status} ${told.text.slice(0, 500)}`
    assert.equal(told.status, status, what)
    if (code !== undefined) assert.equal(told.json.errors[0].code, code, what)
    return told
  }

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
    /** May delete in `releases`. */
    get key() {
      return key
    },
    ask,
    expect,
    ...pusher(expect),
  }
}
