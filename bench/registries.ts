import { hash } from 'node:crypto'
import { run } from './processes.ts'
import type { Bench } from './servers.ts'

/** A registry of images, as its clients see it. */
export interface Registry {
  readonly name: string
  readonly server: Bench
  readonly origin: string
  /** What an image of this name is called there. */
  readonly image: (name: string) => string
  readonly headers: Readonly<Record<string, string>>
}

/** A file that is pushed as a layer. */
export interface Layer {
  readonly path: string
  readonly sha256: string
  readonly bytes: number
}

export const registryOf = (server: Bench): Registry => {
  const { url, headers } = server.download('any', '')
  const ours = server.recoveryKey !== undefined
  return {
    name: server.name,
    server,
    origin: new URL(url).origin,
    image: (name) => (ours ? `releases/${name}` : name),
    headers,
  }
}

const flags = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])

const beginUpload = async (registry: Registry, image: string): Promise<string> => {
  const address = `${registry.origin}/v2/${image}/blobs/uploads/`
  const begun = await fetch(address, { method: 'POST', headers: registry.headers })
  if (begun.status !== 202) throw new Error(`${registry.name}: ${begun.status} ${await begun.text()}`)
  return new URL(begun.headers.get('location') ?? '', address).href
}

/** As containerd does: an address for the upload, and all bytes with the request that ends it. */
const pushFile = async (registry: Registry, image: string, { path, sha256 }: Layer): Promise<void> => {
  const location = await beginUpload(registry, image)
  const address = `${location}${location.includes('?') ? '&' : '?'}digest=sha256:${sha256}`
  const type = { 'content-type': 'application/octet-stream', expect: '' }
  await run('curl', ['-sSf', '-o', '/dev/null', '-T', path, ...flags({ ...registry.headers, ...type }), address])
}

const pushBytes = async (registry: Registry, image: string, bytes: string): Promise<string> => {
  const digest = `sha256:${hash('sha256', bytes)}`
  const location = await beginUpload(registry, image)
  const address = `${location}${location.includes('?') ? '&' : '?'}digest=${digest}`
  await insist(registry, await fetch(address, { method: 'PUT', headers: registry.headers, body: bytes }))
  return digest
}

const insist = async (registry: Registry, answer: Response): Promise<void> => {
  const said = await answer.text()
  if (!answer.ok) throw new Error(`${registry.name}: ${answer.status} ${said}`)
}

export const manifestType = 'application/vnd.oci.image.manifest.v1+json'

/** Pushes an image under the tag `latest`, `atOnce` layers at a time; seconds. */
export const push = async (
  registry: Registry,
  name: string,
  layers: readonly Layer[],
  atOnce: number,
): Promise<number> => {
  const image = registry.image(name)
  const began = performance.now()
  const left = [...layers]
  const worker = async (): Promise<void> => {
    for (let layer = left.shift(); layer !== undefined; layer = left.shift()) await pushFile(registry, image, layer)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const config = JSON.stringify({ architecture: 'amd64', os: 'linux', name })
  const digest = await pushBytes(registry, image, config)
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest, size: config.length },
    layers: layers.map(({ sha256, bytes }) => ({
      mediaType: 'application/vnd.oci.image.layer.v1.tar',
      digest: `sha256:${sha256}`,
      size: bytes,
    })),
  })
  const headers = { ...registry.headers, 'content-type': manifestType }
  const address = manifestAddress(registry, name)
  await insist(registry, await fetch(address, { method: 'PUT', headers, body: manifest }))
  return (performance.now() - began) / 1000
}

export const manifestAddress = (registry: Registry, name: string): string =>
  `${registry.origin}/v2/${registry.image(name)}/manifests/latest`

/** Seconds until so many clients have the manifest and all layers, three at a time. Fails unless all bytes came. */
export const pull = async (
  registry: Registry,
  name: string,
  layers: readonly Layer[],
  clients: number,
): Promise<number> => {
  const image = registry.image(name)
  const headers = { ...registry.headers, accept: manifestType }
  const began = performance.now()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      await insist(registry, await fetch(manifestAddress(registry, name), { headers }))
      const addresses = layers.flatMap(({ sha256 }) => [
        '-o',
        '/dev/null',
        `${registry.origin}/v2/${image}/blobs/sha256:${sha256}`,
      ])
      const told = ['-w', '%{size_download}\\n', ...flags(registry.headers)]
      const sizes = await run('curl', ['-sSf', '--parallel', '--parallel-max', '3', ...told, ...addresses])
      const got = sizes
        .trim()
        .split('\n')
        .reduce((sum, size) => sum + Number(size), 0)
      const wanted = layers.reduce((sum, { bytes }) => sum + bytes, 0)
      if (got !== wanted) throw new Error(`${registry.name} sent ${got} of ${wanted} bytes`)
    }),
  )
  return (performance.now() - began) / 1000
}
