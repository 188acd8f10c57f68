import { createHash } from 'node:crypto'
import type { NpmCachedPackagesTable } from '../../../database/tables/npm-upstreams.ts'
import { Failure } from '../../../kernel/failure.ts'
import {
  npmUpstreamAdmittedMs,
  npmUpstreamChainMax,
  npmUpstreamDocumentsAtOnce,
  npmUpstreamLookAgainMs,
  npmUpstreamTarballsAtOnce,
} from '../../../kernel/limits/npm-upstream.ts'
import { second } from '../../../kernel/units.ts'
import type { PackageName } from '../reading.ts'
import { findCached, findCachedFile, installationIdentity, isOwnName } from './cached.queries.ts'
import { type CachedDocumentsDeps, createCachedDocuments, type Question } from './cached-documents.ts'
import { type CachedFile, type CachedTarballsDeps, createCachedTarballs, distOfVersion } from './cached-tarballs.ts'
import { createGates } from './gates.ts'
import { isAskableName, isReserved } from './names.ts'
import { type UpstreamSetting, upstreamOf } from './setting.ts'
import { toldTrouble, UpstreamTrouble } from './trouble.ts'

/** Who asks for something that is not the repository's own. */
export interface Asker {
  readonly actor: string
  /** The header Via of the request: who asked those who ask. */
  readonly via: string | undefined
  /** Throws what a fresh request of theirs would be told: they may have waited for long. */
  readonly admitAgain: () => Promise<unknown>
}

/**
 * What repositories have by looking through to another registry, for names that are not their own. Null from all of
 * them where there is no upstream, where the name is not one to ask for, and where the upstream has none.
 *
 * They throw 424 `upstream_unusable` and 503 `upstream_unavailable` where it cannot be had, in words for people.
 */
export interface Upstream extends AsyncDisposable {
  /** What is known of a package. */
  packageOf(here: PackageName, asker: Asker): Promise<NpmCachedPackagesTable | null>
  /** Whether something of a package is kept that is shown under its name. */
  has(here: PackageName): Promise<boolean>
  /** The tarball of a version, fetched where it is not here. */
  fileOf(here: PackageName, version: string, asker: Asker): Promise<CachedFile | null>
}

export type UpstreamDeps = Omit<CachedDocumentsDeps & CachedTarballsDeps, 'documentGates' | 'tarballGates'> & {
  /** Whether this process may fetch anything: one that only reads may not. */
  readonly fetches: boolean
}

export const createUpstream = (given: UpstreamDeps): Upstream => {
  const deps = {
    ...given,
    documentGates: createGates(npmUpstreamDocumentsAtOnce),
    tarballGates: createGates(npmUpstreamTarballsAtOnce),
  }
  const q = deps.database.reader
  const documents = createCachedDocuments(deps)
  const tarballs = createCachedTarballs(deps)
  let identity: string | undefined

  /** Null where nothing may come from outside under this name. */
  const settingFor = async (here: PackageName): Promise<UpstreamSetting | null> => {
    const setting = await upstreamOf(q, here.repository)
    if (setting === null || !isAskableName(here.name) || isReserved(setting.reserved, here.name)) return null
    for (const name of new Set([here.name, here.name.toLowerCase()]))
      if (await isOwnName(q, { ...here, name })) return null
    return setting
  }

  const questionOf = async (here: PackageName, asker: Asker): Promise<Question | null> => {
    const setting = await settingFor(here)
    if (setting === null) return null
    identity ??= await installationIdentity(q)
    const own = tokenOf(identity, here.repository)
    const before = registriesIn(asker.via)
    const asksItself = before.includes(own) || before.length > npmUpstreamChainMax
    const via = [...before, own].map((token) => `1.1 ${token}`).join(', ')
    return { here, setting, via, isChained: before.length > 0, mayAsk: deps.fetches && !asksItself }
  }

  const current = (question: Question, freshMs: number, asker: Asker): Promise<NpmCachedPackagesTable | null> =>
    told(`The package ${JSON.stringify(question.here.name)}`, asker, () => documents.current(question, freshMs))

  const refuseReader = (question: Question, what: string): void => {
    if (deps.fetches || question.mayAsk) return
    throw new Failure(
      'upstream_unusable',
      `${what} is not here, and this gateway only reads: it fetches nothing from upstream registries. Ask one that takes changes.`,
    )
  }

  return {
    async packageOf(here, asker) {
      const question = await questionOf(here, asker)
      if (question === null) return null
      const found = await current(question, question.setting.freshSeconds * second, asker)
      if (found === null) refuseReader(question, `The package ${JSON.stringify(here.name)}`)
      return found
    },
    async has(here) {
      const setting = await settingFor(here)
      return setting !== null && (await findCached(q, here))?.url === setting.url
    },
    async fileOf(here, version, asker) {
      const question = await questionOf(here, asker)
      if (question === null) return null
      const kept = await findCachedFile(q, here, version, question.setting.url)
      if (kept !== undefined) {
        deps.meter.count('tarball', 'hit')
        return kept
      }
      const what = `${here.name}@${version}`
      refuseReader(question, what)
      if (!question.mayAsk) return null
      const dist = await distWanted(question, version, asker)
      if (dist === null) return null
      return await told(what, asker, () => tarballs.fetched({ question, version, dist, actor: asker.actor }))
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([documents[Symbol.asyncDispose](), tarballs[Symbol.asyncDispose]()])
    },
  }

  /** What the upstream says of a version; asked anew where it may have come since. */
  async function distWanted(question: Question, version: string, asker: Asker) {
    const freshMs = question.setting.freshSeconds * second
    for (const notOlderMs of [freshMs, Math.min(freshMs, npmUpstreamLookAgainMs)]) {
      const found = await current(question, notOlderMs, asker)
      const dist = found === null ? null : await distOfVersion(q, found, version)
      if (dist !== null) return dist
    }
    return null
  }
}

/** What registries say of themselves in `Via`; whatever else stands there is of no concern to others. */
const registriesIn = (via = ''): string[] => via.match(/\bsvc-[0-9a-f]{24}\b/g) ?? []

/** By which a repository is known among those that look through to each other. It tells nothing else. */
const tokenOf = (identity: string, repository: string): string =>
  `svc-${createHash('sha256').update(`${identity} ${repository}`).digest('hex').slice(0, 24)}`

/** Has people told what is wrong with an upstream, and who has waited for it asked once more whether they may. */
const told = async <T>(what: string, { admitAgain }: Asker, work: () => Promise<T>): Promise<T> => {
  const since = performance.now()
  try {
    const outcome = await work()
    if (performance.now() - since >= npmUpstreamAdmittedMs) await admitAgain()
    return outcome
  } catch (error) {
    throw error instanceof UpstreamTrouble ? toldTrouble(what, error) : error
  }
}
