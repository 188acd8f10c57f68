import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { runProgram } from './processes.ts'

/*
 * skopeo, buildah and podman as Debian has them, each with all that it keeps in one folder: images, sign-ins, what it
 * remembers of registries. They speak HTTP to addresses of this machine, and ask nobody else.
 */

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ImageClients extends AsyncDisposable {
  readonly folder: string
  /** What a shell needs so that its clients are these. */
  readonly environment: Readonly<Record<string, string>>
  /** Runs a client; fails the test, with what it said, when the client fails. Answers what it wrote. */
  run(client: Client, ...args: string[]): Promise<string>
  /** The same where it has to fail: what it says. */
  fails(client: Client, ...args: string[]): Promise<string>
}

type Client = 'skopeo' | 'buildah' | 'podman'

/** What each is told beside what it is asked: no service of the machine is needed. */
const always: Readonly<Record<Client, readonly string[]>> = {
  skopeo: [],
  buildah: [],
  podman: ['--events-backend=file', '--cgroup-manager=cgroupfs'],
}

/** `host` is the service that they speak to, without TLS. */
export const startImageClients = async (host: string): Promise<ImageClients> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-images-'))
  const at = (name: string): string => join(folder, name)
  const places = `graphroot = "${at('images')}"\nrunroot = "${at('run')}"`
  await writeFile(at('storage.conf'), `[storage]\ndriver = "vfs"\n${places}\n`)
  const own = at('.config/containers')
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'policy.json'), JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }))
  await writeFile(join(own, 'registries.conf'), `[[registry]]\nlocation = "${host}"\ninsecure = true\n`)
  const environment = {
    CONTAINERS_STORAGE_CONF: at('storage.conf'),
    REGISTRY_AUTH_FILE: at('auth.json'),
    BUILDAH_ISOLATION: 'chroot',
    TMPDIR: folder,
    HOME: folder,
    XDG_DATA_HOME: at('data'),
    XDG_RUNTIME_DIR: at('run'),
    XDG_CONFIG_HOME: at('.config'),
  }
  const ask = (client: Client, args: readonly string[]): Promise<Ran> =>
    runProgram(client, [...always[client], ...args], environment)
  const inWords = (client: Client, args: readonly string[], { stdout, stderr }: Ran): string =>
    `${client} ${args.join(' ')}\n${stdout}${stderr}`
  return {
    folder,
    environment,
    async run(client, ...args) {
      const ran = await ask(client, args)
      assert.equal(ran.code, 0, inWords(client, args, ran))
      return ran.stdout.trim()
    },
    async fails(client, ...args) {
      const ran = await ask(client, args)
      assert.notEqual(ran.code, 0, inWords(client, args, ran))
      return ran.stdout + ran.stderr
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

interface Described {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** Of an image in a folder: for which machine it is, and what is in its layers, a file in each. */
export interface Wanted {
  readonly architecture: string
  readonly layers: readonly Buffer[]
}

const ociType = (what: string): string => `application/vnd.oci.image.${what}.v1+json`
const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A tar with one file, as the clients unpack it. */
const tarOf = (name: string, bytes: Uint8Array): Buffer => {
  const header = Buffer.alloc(512)
  header.write(name)
  header.write(`0000644\0${'0000000\0'.repeat(2)}`, 100)
  header.write(`${bytes.byteLength.toString(8).padStart(11, '0')}\0${'0'.repeat(11)}\0`, 124)
  header.write('        0', 148)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc(1024 + ((512 - (bytes.byteLength % 512)) % 512))])
}

/**
 * An OCI layout in a folder: an image, or where several are wanted an index of them, under the tag `made`. The digest
 * of what the tag names.
 */
export const writeLayout = async (folder: string, wanted: readonly [Wanted, ...Wanted[]]): Promise<string> => {
  const blobs = join(folder, 'blobs', 'sha256')
  await mkdir(blobs, { recursive: true })
  const keep = async (mediaType: string, bytes: Uint8Array): Promise<Described> => {
    const digest = digestOf(bytes)
    await writeFile(join(blobs, digest.slice('sha256:'.length)), bytes)
    return { mediaType, digest, size: bytes.byteLength }
  }
  const keepJson = (what: string, value: object): Promise<Described> =>
    keep(ociType(what), Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: ociType(what), ...value })))
  const keepImage = async ({ architecture, layers }: Wanted): Promise<Described & { platform: object }> => {
    const tars = layers.map((bytes, index) => tarOf(`file-${index}`, bytes))
    const kept: Described[] = []
    for (const tar of tars) kept.push(await keep('application/vnd.oci.image.layer.v1.tar+gzip', gzipSync(tar)))
    const platform = { os: 'linux', architecture }
    const rootfs = { type: 'layers', diff_ids: tars.map(digestOf) }
    const config = await keep(ociType('config'), Buffer.from(JSON.stringify({ ...platform, config: {}, rootfs })))
    return { ...(await keepJson('manifest', { config, layers: kept })), platform }
  }
  const images: Described[] = []
  for (const each of wanted) images.push(await keepImage(each))
  const [first] = images
  const named = images.length === 1 ? first : await keepJson('index', { manifests: images })
  assert.ok(named !== undefined)
  const annotations = { 'org.opencontainers.image.ref.name': 'made' }
  await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  await writeFile(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, manifests: [{ ...named, annotations }] }),
  )
  return named.digest
}
