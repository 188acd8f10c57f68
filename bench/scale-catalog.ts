import { hash } from 'node:crypto'

/** The artifact of a number: what a team that builds a dozen services for four platforms might have published. */
export interface CatalogFile {
  readonly path: string
  readonly name: string
  readonly labels: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  /** What was said of it later, of every fourth. */
  readonly annotations: {
    readonly labels: readonly string[]
    readonly metadata: Readonly<Record<string, string>>
    readonly collections: readonly string[]
  } | null
  /** By which somebody keeps it: of every tenth, a release. */
  readonly referenceKey: string | null
}

const services = 'api web worker billing gateway console agent proxy core indexer identity mailer'.split(' ')
const platforms = ['linux-amd64', 'linux-arm64', 'darwin-arm64', 'windows-amd64']
const branches = ['main', 'main', 'release/2.x', 'feature/login']

/** The same on every run: digits of a digest instead of chance. */
export const catalogFile = (index: number): CatalogFile => {
  const chance = hash('sha256', `file ${index}`)
  const pick = <T>(from: readonly T[], at: number): T => {
    const found = from[Number.parseInt(chance.slice(at, at + 4), 16) % from.length]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
  const service = pick(services, 0)
  const platform = pick(platforms, 4)
  const build = 100_000 + index
  const version = `${Number.parseInt(chance.slice(8, 10), 16) % 9}.${Number.parseInt(chance.slice(10, 12), 16)}.${build}`
  const name = `${service}-service-${version}-${platform}.tar.gz`
  const metadata = {
    branch: pick(branches, 12),
    builder: `runner-${Number.parseInt(chance.slice(16, 18), 16) % 64}.ci.example.com`,
    commit: chance.slice(0, 40),
  }
  const labels = ['ci', index % 10 === 0 ? 'release' : 'snapshot']
  const annotations =
    index % 4 === 0
      ? {
          labels: [...labels, 'checked'],
          metadata: { ...metadata, ...(index % 5_000 === 0 ? { note: `Hand-picked №${index}` } : {}) },
          collections: [`team:${pick(services, 20)}`, ...(index % 5_000 === 0 ? ['chosen'] : [])],
        }
      : null
  const path = `teams/${service}/builds/${platform}/${version}/${name}`
  const referenceKey = index % 10 === 0 ? `deployed:${service}-${platform}` : null
  return { path, name, labels, metadata, annotations, referenceKey }
}
