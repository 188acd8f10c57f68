import { createHash } from 'node:crypto'
import { valid } from 'semver'
import { Failure } from '../../../kernel/failure.ts'
import {
  npmDocumentPartsMax,
  npmDocumentRestMaxBytes,
  npmTagMaxCharacters,
  npmTagsMax,
  npmVersionMaxBytes,
  npmVersionsMax,
} from '../../../kernel/limits/npm.ts'
import { npmUpstreamDocumentMaxBytes } from '../../../kernel/limits/npm-upstream.ts'
import { type Fields, hasOf, isObject, objectOf } from '../fields.ts'
import { type Cut, Cutter } from '../publishing/cutting.ts'
import { jsonObject } from '../publishing/document.ts'
import { runsOnInstall } from '../publishing/inside.ts'
import { abbreviatedOf, lifted, tarballAddressText } from '../rendering.ts'
import { Rounds } from '../rounds.ts'
import { isTag } from '../vocabulary.ts'
import { CompressedPieces, PiecesBudget } from './compressed-pieces.ts'
import { type Dist, distLine, distOf, isOf, type KeptHashes, toldDist, withKept } from './dist.ts'
import { UpstreamTrouble } from './trouble.ts'

/** What is known before a document comes. */
export interface ExpectedPackument {
  readonly name: string
  /** How clients will call this state of the package. */
  readonly revision: string
  /** Tarballs that are kept, by version: what the upstream says of them now changes nothing. */
  readonly kept: ReadonlyMap<string, KeptHashes>
}

export type PackumentPart = 'full' | 'abbreviated' | 'dists'

/** A document of an upstream as it is kept. */
export interface Packument {
  /** Of the document as it came. */
  readonly sha256: string
  readonly parts: Readonly<Record<PackumentPart, readonly Uint8Array[]>>
  readonly bytes: number
  readonly versions: number
  /** Versions that nobody could take from it: without a number or hashes, or of another package. */
  readonly leftOut: number
  /** Versions of which it says other hashes than their tarballs have that are kept. */
  readonly changed: readonly string[]
  readonly tags: Readonly<Record<string, string>>
}

/**
 * Takes the document of a package in as it comes from an upstream, a version at a time, and makes of it what is kept:
 * both forms in which clients are told, with our address in the place of the upstream's, and an index of its tarballs.
 * Memory is bounded whatever comes. Throws an {@link UpstreamTrouble} for what is no such document.
 */
export const takePackument = async (
  pieces: AsyncIterable<Uint8Array>,
  expected: ExpectedPackument,
): Promise<Packument> => {
  const taking = new Taking(expected)
  const hash = createHash('sha256')
  const cutter = new Cutter()
  for await (const piece of pieces) {
    hash.update(piece)
    for (const cut of cutter.cut(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))) await taking.take(cut)
    if (cutter.heldBytes > npmVersionMaxBytes) throw tooLarge('one of its versions', npmVersionMaxBytes)
  }
  if (!cutter.isWhole) throw new UpstreamTrouble('malformed', 'its document of the package ends in the middle')
  return { sha256: hash.digest('hex'), ...(await taking.end()) }
}

const tooLarge = (what: string, bytes: number): UpstreamTrouble =>
  new UpstreamTrouble('too_large', `in its document of the package, ${what} has more than ${bytes} bytes`)

class Taking {
  readonly #expected: ExpectedPackument
  readonly #budget = new PiecesBudget()
  readonly #full = new CompressedPieces(this.#budget)
  readonly #abbreviated = new CompressedPieces(this.#budget)
  readonly #dists = new CompressedPieces(this.#budget)
  readonly #seen = new Set<string>()
  readonly #versions = new Set<string>()
  readonly #changed: string[] = []
  readonly #rest: Buffer[] = []
  #restBytes = 0
  readonly #rounds = new Rounds()
  /** As it is written again, which may be more than what came: of numbers, above all. */
  #writtenBytes = 0

  constructor(expected: ExpectedPackument) {
    this.#expected = expected
  }

  async take(cut: Cut): Promise<void> {
    if (cut.kind === 'version') await this.#takeVersion(cut.version, cut.text)
    else if (cut.kind === 'rest') {
      this.#restBytes += cut.bytes.byteLength
      if (this.#restBytes > npmDocumentRestMaxBytes)
        throw tooLarge('what stands beside the versions', npmDocumentRestMaxBytes)
      this.#rest.push(Buffer.from(cut.bytes))
    }
  }

  async #takeVersion(key: string, text: Buffer): Promise<void> {
    if (text.byteLength > npmVersionMaxBytes) throw tooLarge('one of its versions', npmVersionMaxBytes)
    if (this.#seen.has(key)) throw new UpstreamTrouble('malformed', 'its document of the package has one version twice')
    this.#seen.add(key)
    if (this.#seen.size > npmVersionsMax)
      throw new UpstreamTrouble('too_large', `its document of the package has more than ${npmVersionsMax} versions`)
    await this.#rounds.before(text)
    const told = this.#toldOf(key, text)
    if (told === null) return
    const between = this.#versions.size === 0 ? '{"versions":{' : ','
    this.#versions.add(key)
    this.#writtenBytes += Buffer.byteLength(told.full)
    if (this.#writtenBytes > npmUpstreamDocumentMaxBytes)
      throw tooLarge('all that it says', npmUpstreamDocumentMaxBytes)
    await this.#full.add(`${between}${JSON.stringify(key)}:${told.full}`)
    await this.#abbreviated.add(`${between}${JSON.stringify(key)}:${told.abbreviated}`)
    await this.#dists.add(distLine(key, told.dist))
  }

  /** Both forms of a version; null for one that cannot be taken. */
  #toldOf(key: string, text: Buffer): { full: string; abbreviated: string; dist: Dist } | null {
    const { name, kept } = this.#expected
    try {
      const all = jsonObject(text, 'The version')
      const said = distOf(all['dist'])
      if (said === null || valid(key) !== key || all['version'] !== key || all['name'] !== name) return null
      const before = kept.get(key)
      const isChanged = before !== undefined && !isOf(said, before)
      if (isChanged) this.#changed.push(key)
      const dist = isChanged ? withKept(said, before) : said
      const manifest = manifestOf(all, name, key)
      return {
        full: versionText(manifest, dist, name, key),
        abbreviated: versionText({ ...abbreviatedOf(manifest), ...deprecationOf(manifest) }, dist, name, key),
        dist,
      }
    } catch (error) {
      // It is no JSON that can be taken.
      if (error instanceof Failure) return null
      throw error
    }
  }

  async end(): Promise<Omit<Packument, 'sha256'>> {
    const rest = this.#restFields()
    const { name, revision } = this.#expected
    const tags = tagsOf(rest['dist-tags'], this.#versions)
    const time = this.#timesOf(rest['time'])
    if (this.#versions.size > 0) {
      const first = { _id: name, _rev: revision, name, 'dist-tags': tags, time }
      const told = Object.fromEntries(
        ['description', 'maintainers', 'readme', 'readmeFilename', ...lifted]
          .filter((field) => hasOf(rest, field))
          .map((field) => [field, rest[field]]),
      )
      await this.#full.add(`},${JSON.stringify({ ...first, ...told, _attachments: {} }).slice(1)}`)
      const short = { name, 'dist-tags': tags, time, ...('modified' in time ? { modified: time['modified'] } : {}) }
      await this.#abbreviated.add(`},${JSON.stringify(short).slice(1)}`)
    }
    const parts = {
      full: await this.#full.end(),
      abbreviated: await this.#abbreviated.end(),
      dists: await this.#dists.end(),
    }
    return {
      parts,
      bytes: this.#budget.bytes,
      versions: this.#versions.size,
      leftOut: this.#seen.size - this.#versions.size,
      changed: this.#changed,
      tags,
    }
  }

  #restFields(): Fields {
    const malformed = (cause?: unknown): UpstreamTrouble =>
      new UpstreamTrouble('malformed', 'what it sends as the document of the package is none', { cause })
    let rest: Fields
    try {
      rest = jsonObject(Buffer.concat(this.#rest), 'The document', npmDocumentPartsMax)
    } catch (error) {
      throw malformed(error)
    }
    const { name } = this.#expected
    if (rest['name'] === undefined) throw malformed()
    if (rest['name'] !== name) {
      const said = JSON.stringify(rest['name']).slice(0, 250)
      throw new UpstreamTrouble('other_name', `its document is of ${said}, and ${JSON.stringify(name)} was asked for`)
    }
    return rest
  }

  /** When versions that are told of were published. */
  #timesOf(said: unknown): Record<string, string> {
    const all = isObject(said) ? Object.entries(said) : []
    return Object.fromEntries(
      all.flatMap(([what, at]) =>
        (what === 'created' || what === 'modified' || this.#versions.has(what)) &&
        typeof at === 'string' &&
        !Number.isNaN(Date.parse(at)) &&
        at.length < 40
          ? [[what, at]]
          : [],
      ),
    )
  }
}

/** What upstreams say that holds for them alone, and what stands elsewhere in the document. */
const notTold: ReadonlySet<string> = new Set(['dist', 'readme', '_attachments', '_rev', '_id', 'deprecated'])

const manifestOf = (all: Fields, name: string, version: string): Fields => ({
  ...Object.fromEntries(Object.entries(all).filter(([field]) => !notTold.has(field))),
  ...deprecationOf(all),
  ...(runsOnInstall(all) || all['gypfile'] === true ? { hasInstallScript: true } : {}),
  _id: `${name}@${version}`,
})

const deprecationOf = ({ deprecated }: Fields): Fields =>
  typeof deprecated === 'string' && deprecated !== '' ? { deprecated } : {}

const versionText = (manifest: Fields, dist: Dist, name: string, version: string): string => {
  const told = JSON.stringify(toldDist(dist)).slice(0, -1)
  return `${JSON.stringify(manifest).slice(0, -1)},"dist":${told},"tarball":${tarballAddressText(name, version)}}}`
}

const tagsOf = (said: unknown, versions: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectOf(said))
      .flatMap(([tag, at]) =>
        typeof at === 'string' && versions.has(at) && isTag(tag) && tag.length <= npmTagMaxCharacters
          ? [[tag, at] as const]
          : [],
      )
      .slice(0, npmTagsMax),
  )
