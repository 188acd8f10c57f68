import { createHash, hash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { pack } from 'tar-stream'

/* What clients of npm send: tarballs, documents around them, attestations. */

/** A file, or something else, of a tarball. */
export interface TarEntry {
  readonly name: string
  readonly content?: string | Uint8Array
  readonly type?: 'file' | 'symlink' | 'link' | 'directory' | 'character-device'
  readonly linkname?: string
  /** What is said of it before its header, and counts more. */
  readonly pax?: Readonly<Record<string, string>>
}

const compress = promisify(gzip)

/** A gzipped archive of some entries. */
export const tarballOf = async (entries: readonly TarEntry[]): Promise<Buffer> => {
  const archive = pack()
  for (const { content = '', ...header } of entries) archive.entry({ type: 'file', ...header }, Buffer.from(content))
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

/** The same of a tarball with so many bytes of random data, piece by piece; `integrity` is told at the end. */
export const largeDocument = (manifest: TestPackage, dataBytes: number) => {
  const { name, version } = manifest
  const sha512 = createHash('sha512')
  const whole = JSON.stringify({
    ...{ _id: name, name, 'dist-tags': { latest: version }, versions: { [version]: manifest } },
    _attachments: { [`${name}-${version}.tgz`]: { content_type: 'application/octet-stream', data: '' } },
  })
  const at = whole.indexOf('"data":"') + '"data":"'.length
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from(whole.slice(0, at))
    let left: Uint8Array = Buffer.alloc(0)
    for await (const packed of largeTarball(manifest, dataBytes)) {
      sha512.update(packed)
      const bytes = Buffer.concat([left, packed])
      const end = bytes.byteLength - (bytes.byteLength % 3)
      yield Buffer.from(bytes.toString('base64', 0, end))
      left = bytes.subarray(end)
    }
    yield Buffer.from(Buffer.from(left).toString('base64') + whole.slice(at))
  }
  return { pieces: pieces(), integrity: () => `sha512-${sha512.digest('base64')}` }
}

const largeTarball = (manifest: TestPackage, dataBytes: number): AsyncIterable<Uint8Array> => {
  const archive = pack()
  archive.entry({ name: 'package/package.json' }, JSON.stringify(manifest))
  const data = archive.entry({ name: 'package/data', size: dataBytes }, () => archive.finalize())
  const block = randomBytes(1 << 20)
  const blocks = function* (): Generator<Buffer> {
    for (let left = dataBytes; left > 0; left -= block.byteLength) yield block.subarray(0, left)
  }
  Readable.from(blocks()).pipe(data)
  return archive.pipe(createGzip({ level: 0 }))
}

/** A name as npm writes it into an address. */
export const escaped = (name: string): string => name.replace('/', '%2f')

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
