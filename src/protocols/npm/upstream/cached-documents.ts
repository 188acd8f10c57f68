import type { Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { NpmCachedPackagesTable } from '../../../database/tables/npm-upstreams.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { newId } from '../../../kernel/ids.ts'
import {
  npmCachedDocumentsMaxBytes,
  npmCachedDocumentsPutOutMax,
  npmFailureNotedEveryMs,
  npmUpstreamChainedWaitMs,
  npmUpstreamPauseMs,
} from '../../../kernel/limits/npm-upstream.ts'
import type { PackageName } from '../reading.ts'
import { revisionText } from '../rendering.ts'
import { type AskingDeps, askForDocument } from './asking.ts'
import {
  cachedBytes,
  deleteCachedPieces,
  deleteEmptyPackages,
  findCached,
  forgetDocuments,
  insertCachedPiece,
  isOwnName,
  keptHashesOf,
  leastUsedDocuments,
  putCached,
  updateCached,
} from './cached.queries.ts'
import { dropCached } from './dropping.ts'
import { type FetchDeps, type FetchLease, fetchedHere, fetchOnce, lost } from './fetches.ts'
import type { Gates } from './gates.ts'
import type { UpstreamMeter } from './meter.ts'
import { type Packument, type PackumentPart, takePackument } from './packument.ts'
import { type UpstreamSetting, upstreamOf } from './setting.ts'
import { UpstreamTrouble } from './trouble.ts'
import { createUnderWay, type UnderWay } from './under-way.ts'

export interface CachedDocumentsDeps extends FetchDeps, AskingDeps {
  readonly meter: UpstreamMeter
  readonly reach: ReachFaultPoint
  readonly documentGates: Gates
}

/** Whether the upstream has the package. */
type Outcome = 'there' | 'missing'

/** A question to the upstream of a repository. */
export interface Question {
  readonly here: PackageName
  readonly setting: UpstreamSetting
  /** What the upstream is told of those who ask, so that none asks itself. */
  readonly via: string
  /** Whether another registry asks. What it hears for that counts for nobody else: it says itself what `via` is. */
  readonly isChained: boolean
  /** False where nothing may be asked: what is kept is all that there is. */
  readonly mayAsk: boolean
}

/** Documents of upstreams: kept, asked for anew when they are old, and served as they are when that fails. */
export interface CachedDocuments extends AsyncDisposable {
  /**
   * What is known of a package, not older than `freshMs` unless the upstream is away; null where there is none. Throws
   * an {@link UpstreamTrouble} where nothing is here and it cannot be asked.
   */
  current(question: Question, freshMs: number): Promise<NpmCachedPackagesTable | null>
}

export const createCachedDocuments = (deps: CachedDocumentsDeps): CachedDocuments => {
  const { database, clock, meter } = deps
  const underWay: UnderWay<Outcome> = createUnderWay()
  /** Until when upstreams that failed are left alone, by their addresses. */
  const pauses = new Map<string, number>()

  const kept = async ({ here, setting }: Question): Promise<NpmCachedPackagesTable | null> => {
    const found = await findCached(database.reader, here)
    return found !== undefined && found.bytes > 0 && found.url === setting.url ? found : null
  }
  const isFresh = ({ checked_at }: NpmCachedPackagesTable, freshMs: number): boolean => {
    const ageMs = clock.now() - Date.parse(checked_at)
    // A clock that was put back is no reason to believe it for ever.
    return ageMs >= 0 && ageMs < freshMs
  }
  const asked = async (question: Question, before: NpmCachedPackagesTable | null): Promise<Outcome> => {
    const { here, setting } = question
    const fetched = { repository: here.repository, name: here.name, version: '' }
    const key = `${here.repository} ${here.name} ${question.isChained ? question.via : ''}`
    const outcome = await underWay.once(key, (signal) =>
      fetchedHere(
        () =>
          fetchOnce(
            deps,
            fetched,
            { gate: deps.documentGates(setting.url), signal, waitMs: waitOf(question) },
            (lease) => refresh(deps, question, lease, signal),
          ),
        async () => {
          const found = await kept(question)
          return found !== null && found.checked_at !== before?.checked_at ? 'there' : null
        },
      ),
    )
    pauses.delete(setting.url)
    return outcome
  }

  return {
    async current(question, freshMs) {
      const { setting, mayAsk } = question
      const before = await kept(question)
      if (before !== null && isFresh(before, freshMs)) {
        meter.count('document', 'hit')
        return before
      }
      const pauseMs = (pauses.get(setting.url) ?? 0) - clock.now()
      const isPaused = pauseMs > 0 && pauseMs <= npmUpstreamPauseMs
      if (!mayAsk || (before !== null && isPaused)) {
        if (before !== null) meter.count('document', 'stale')
        return before
      }
      try {
        if ((await asked(question, before)) === 'missing') {
          meter.count('document', 'missing')
          return question.isChained ? before : null
        }
        return await kept(question)
      } catch (error) {
        if (error instanceof UpstreamTrouble && error.stands) pauses.set(setting.url, clock.now() + npmUpstreamPauseMs)
        const isOurs = !(error instanceof UpstreamTrouble || error instanceof Failure)
        if (before === null || isOurs) throw error
        meter.count('document', 'stale')
        return before
      }
    },
    [Symbol.asyncDispose]: () => underWay[Symbol.asyncDispose](),
  }
}

/** Two registries that look through to each other would wait for each other. */
const waitOf = ({ isChained }: Question): number | undefined => (isChained ? npmUpstreamChainedWaitMs : undefined)

const relaxed = { durability: 'relaxed' } as const

/** Asks the upstream, under the lease of the package, and keeps what it says. */
const refresh = async (
  deps: CachedDocumentsDeps,
  { here, setting, via, isChained }: Question,
  lease: FetchLease,
  signal: AbortSignal,
): Promise<Outcome> => {
  const { database, clock, meter } = deps
  const known = await findCached(database.reader, here)
  const isOfFormer = known !== undefined && known.url !== setting.url
  const isSameUpstream = known !== undefined && known.bytes > 0 && !isOfFormer
  const next = { id: known?.id ?? newId(clock.now()), revision: (known?.revision ?? 0) + 1 }
  const hashes = isOfFormer ? [] : await keptHashesOf(database.reader, here)
  const kept = new Map(hashes.map(({ version, ...each }) => [version, each]))
  const expected = { name: here.name, revision: revisionText(next), kept }
  const etag = isSameUpstream && known.sha256 !== null ? known.etag : null
  try {
    const answer = await askForDocument(deps, setting.url, { name: here.name, etag, via, signal }, (pieces) =>
      takePackument(pieces, expected),
    )
    if (answer === null || (answer !== 'same' && answer.document.versions === 0)) {
      if (known !== undefined && !isChained) await noteMissing(deps, known)
      return 'missing'
    }
    const isKnown = answer === 'same' || (isSameUpstream && answer.document.sha256 === known.sha256)
    if (isKnown && known !== undefined) {
      await database.transaction(async (tx) => {
        await lease.end(tx)
        const told = answer === 'same' ? known.etag : answer.etag
        await updateCached(tx, { id: known.id, etag: told, checked_at: now(deps), failure: null, failed_at: null })
      }, relaxed)
      meter.count('document', 'confirmed')
      return 'there'
    }
    if (answer === 'same') return 'there'
    // What a former upstream sent is not passed on as what this one has.
    if (isOfFormer) await dropCached(deps, { ...here, version: undefined }, setting.actor)
    meter.changed(answer.document.changed.length)
    deps.reach('npm-upstream.came')
    const { etag: given, document } = answer
    const outcome = await database.transaction(async (tx) => {
      const kept = await keepDocument(tx, { here, setting, next, etag: given, document, at: now(deps) }, lease)
      deps.reach('npm-upstream.told')
      return kept
    })
    deps.reach('npm-upstream.committed')
    if (outcome === 'there') meter.count('document', 'fetched')
    return outcome
  } catch (error) {
    if (!(error instanceof UpstreamTrouble)) throw error
    meter.count('document', 'failed')
    meter.failed(error.reason)
    if (known !== undefined) await noteFailure(deps, known, error.reason)
    throw error
  }
}

const now = ({ clock }: Pick<FetchDeps, 'clock'>): string => timestamp(clock.now())

/**
 * What the upstream took away is told of no more; tarballs that are kept stay, for whoever has their addresses in a
 * lock file.
 */
const noteMissing = async (deps: CachedDocumentsDeps, { id, repository }: NpmCachedPackagesTable): Promise<void> => {
  await deps.database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    await forgetDocuments(tx, [id])
    await updateCached(tx, { id, checked_at: now(deps), failure: 'missing', failed_at: now(deps) })
    await deleteEmptyPackages(tx, [id])
  }, relaxed)
}

/** Operators see in the list of what is kept since when an upstream gives nothing newer. */
const noteFailure = async (
  deps: CachedDocumentsDeps,
  { id, failure, failed_at }: NpmCachedPackagesTable,
  reason: string,
): Promise<void> => {
  const isNoted = failure === reason && failed_at !== null
  if (isNoted && deps.clock.now() - Date.parse(failed_at) < npmFailureNotedEveryMs) return
  await deps.database.transaction((tx) => updateCached(tx, { id, failure: reason, failed_at: now(deps) }), relaxed)
}

interface Kept {
  readonly here: PackageName
  readonly setting: UpstreamSetting
  readonly next: { readonly id: string; readonly revision: number }
  readonly etag: string | null
  readonly document: Packument
  readonly at: string
}

/**
 * Looks once more, under the lock of the repository, whether what was fetched may be kept: somebody may have published
 * the name meanwhile, or have set another upstream.
 */
export const mayBeKept = async (tx: Transaction, here: PackageName, setting: UpstreamSetting): Promise<boolean> => {
  if ((await upstreamOf(tx, here.repository))?.revision !== setting.revision)
    throw new Failure('busy', 'The upstream of this repository was changed at this moment. Try again.', {
      retryAfterSeconds: 1,
    })
  return !(await isOwnName(tx, here))
}

const keepDocument = async (
  tx: Transaction,
  { here, setting, next, etag, document, at }: Kept,
  lease: FetchLease,
): Promise<Outcome> => {
  const { repository, name } = here
  if (!(await lockRepository(tx, repository))) throw notFound('repository')
  await lease.end(tx)
  if (!(await mayBeKept(tx, here, setting))) return 'missing'
  const there = await findCached(tx, here)
  if (there !== undefined && there.id !== next.id) throw lost()
  const { versions, leftOut, tags, bytes, sha256, parts } = document
  await deleteCachedPieces(tx, [next.id])
  await putCached(tx, {
    ...{ ...next, repository, name, url: setting.url, etag, sha256, fetched_at: at, checked_at: at },
    ...{ versions, left_out: leftOut, tags: JSON.stringify(tags), bytes, failure: null, failed_at: null },
  })
  for (const part of ['full', 'abbreviated', 'dists'] as const satisfies readonly PackumentPart[])
    for (const [index, piece] of parts[part].entries())
      await insertCachedPiece(tx, { package_id: next.id, part, number: index + 1, bytes: piece })
  await putOut(tx, repository, next.id)
  return 'there'
}

/** Keeps what documents take within its bound: those go that were not asked for the longest. */
const putOut = async (tx: Transaction, repository: string, newest: string): Promise<void> => {
  let over = (await cachedBytes(tx, repository)) - npmCachedDocumentsMaxBytes
  if (over <= 0) return
  const going: string[] = []
  for (const { id, bytes } of await leastUsedDocuments(tx, repository, npmCachedDocumentsPutOutMax)) {
    if (over <= 0) break
    if (id === newest) continue
    going.push(id)
    over -= bytes
  }
  if (going.length === 0) return
  await forgetDocuments(tx, going)
  await deleteEmptyPackages(tx, going)
}
