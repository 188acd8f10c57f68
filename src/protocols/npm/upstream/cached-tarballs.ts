import type { Queries, Transaction } from '../../../database/database.ts'
import type { NpmCachedPackagesTable } from '../../../database/tables/npm-upstreams.ts'
import type { TransferDeps } from '../../../features/transfers/uploads/uploads.ts'
import { receiveWhole } from '../../../features/transfers/whole/whole.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { Failure } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { refuseOtherInside } from '../publishing/claimed.ts'
import { TarballReading } from '../publishing/reading-tarball.ts'
import { packageUnknown } from '../refusals.ts'
import { tarballName } from '../vocabulary.ts'
import { type AskingDeps, askForTarball, tarballAddress } from './asking.ts'
import { findCached, findCachedFile, insertCachedVersion, putCached } from './cached.queries.ts'
import { mayBeKept, type Question } from './cached-documents.ts'
import { textsOf } from './cached-reading.ts'
import { type Dist, distInLines, isOf } from './dist.ts'
import { type FetchDeps, type FetchLease, fetchedHere, fetchOnce } from './fetches.ts'
import type { Gates } from './gates.ts'
import type { UpstreamMeter } from './meter.ts'
import { UpstreamTrouble } from './trouble.ts'
import { createUnderWay, type UnderWay } from './under-way.ts'

export interface CachedTarballsDeps extends TransferDeps, FetchDeps, AskingDeps {
  readonly meter: UpstreamMeter
  readonly tarballGates: Gates
}

/** A tarball that is kept. */
export type CachedFile = NonNullable<Awaited<ReturnType<typeof findCachedFile>>>

/** The tarball of a version of an upstream, and who wants it. */
interface WantedTarball {
  readonly question: Question
  readonly version: string
  readonly dist: Dist
  readonly actor: string
}

/** Tarballs of upstreams: fetched once, verified, and kept. */
export interface CachedTarballs extends AsyncDisposable {
  /**
   * Fetches a tarball, unless that is being done; null where the upstream has none. What comes is verified and kept
   * before anybody gets a byte of it; it goes on when those who wait for it are gone. Throws an
   * {@link UpstreamTrouble}.
   */
  fetched(wanted: WantedTarball): Promise<CachedFile | null>
}

export const createCachedTarballs = (deps: CachedTarballsDeps): CachedTarballs => {
  const underWay: UnderWay<CachedFile | 'missing'> = createUnderWay()
  return {
    async fetched(wanted) {
      const { here, setting } = wanted.question
      const { version } = wanted
      const file = await underWay.once(`${here.repository} ${here.name} ${version}`, (signal) =>
        fetchedHere(
          () =>
            fetchOnce(deps, { ...here, version }, { gate: deps.tarballGates(setting.url), signal }, (lease) =>
              fetchTarball(deps, wanted, lease, signal),
            ),
          async () => (await findCachedFile(deps.database.reader, here, version, setting.url)) ?? null,
        ),
      )
      return file === 'missing' ? null : file
    },
    [Symbol.asyncDispose]: () => underWay[Symbol.asyncDispose](),
  }
}

/** What the document that is kept says of the tarball of a version; null where it says nothing of it. */
export const distOfVersion = async (
  q: Queries,
  { id }: Pick<NpmCachedPackagesTable, 'id'>,
  version: string,
): Promise<Dist | null> => {
  for await (const lines of textsOf(q, id, 'dists')) {
    const dist = distInLines(lines, version)
    if (dist !== null) return dist
  }
  return null
}

const fetchTarball = async (
  deps: CachedTarballsDeps,
  wanted: WantedTarball,
  lease: FetchLease,
  signal: AbortSignal,
): Promise<CachedFile | 'missing'> => {
  const { question, version, dist } = wanted
  const { here, setting, via } = question
  const before = await findCachedFile(deps.database.reader, here, version, setting.url)
  if (before !== undefined) return before
  try {
    const url = tarballAddress(setting.url, dist.tarball)
    const asked = { bytesMax: deps.maxObjectBytes, via, signal }
    const kept = await askForTarball(deps, url, asked, (pieces) => keepTarball(deps, wanted, lease, pieces))
    deps.meter.count('tarball', kept === null ? 'missing' : 'fetched')
    return kept ?? 'missing'
  } catch (error) {
    if (!(error instanceof UpstreamTrouble)) throw error
    deps.meter.count('tarball', 'failed')
    deps.meter.failed(error.reason)
    throw error
  }
}

/**
 * Takes the bytes in by the one door, as those of a publish, and verifies them on their way. Refused, it leaves
 * nothing.
 */
const keepTarball = async (
  deps: CachedTarballsDeps,
  { question, version, dist, actor }: WantedTarball,
  lease: FetchLease,
  pieces: AsyncIterable<Uint8Array>,
): Promise<CachedFile> => {
  const { here, setting } = question
  const reading = new TarballReading()
  const file = { name: tarballName(here.name, version).slice(0, 255), kind: 'npm-cached' } as const
  try {
    return await receiveWhole(
      deps,
      { repository: here.repository, owner: actor },
      { ...file, declaredBytes: null, digest: null, pieces: verified(pieces, reading, { ...here, version, dist }) },
      {
        early: async () => null,
        commit: async (tx, { id }, { digest, bytes }, now) => {
          await lease.end(tx)
          if (!(await mayBeKept(tx, here, setting))) throw packageUnknown(here.name)
          const { sha1, sha512 } = reading.found
          const packageId = await packageOf(tx, question, now)
          await insertCachedVersion(tx, {
            ...{ id, package_id: packageId, ...here, version, sha256: digest, size: bytes, sha1, sha512 },
            ...{ fetched_at: now, actor },
          })
          const line = { artifactId: id, detail: `${here.name}@${version}`, actor, occurredAt: now }
          await appendJournal(tx, { repository: here.repository, action: 'package.fetch', ...line })
          return { sha256: digest, size: bytes, fetched_at: now }
        },
      },
    )
  } finally {
    reading.drop()
  }
}

/** The package of the version, made where its document was put out meanwhile. */
const packageOf = async (tx: Transaction, { here, setting }: Question, now: string): Promise<string> => {
  const found = await findCached(tx, here)
  if (found !== undefined) return found.id
  const id = newId(Date.parse(now))
  await putCached(tx, {
    ...{ id, ...here, url: setting.url, etag: null, sha256: null, revision: 0 },
    ...{ fetched_at: now, checked_at: now, versions: 0, left_out: 0, tags: '{}', bytes: 0 },
    ...{ failure: null, failed_at: null },
  })
  return id
}

interface Expected {
  readonly name: string
  readonly version: string
  readonly dist: Dist
}

/** The bytes as they come; ends only where they are the tarball that is meant. */
async function* verified(
  pieces: AsyncIterable<Uint8Array>,
  reading: TarballReading,
  { name, version, dist }: Expected,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of pieces) {
      await reading.take(piece)
      yield piece
    }
    await reading.end()
    refuseOtherInside({ name, version }, reading.found.unpacked)
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'invalid_request')) throw error
    throw new UpstreamTrouble('mismatch', `what it sends as the tarball cannot be taken: ${error.message}`, {
      cause: error,
    })
  }
  if (!isOf(dist, reading.found))
    throw new UpstreamTrouble(
      'mismatch',
      `what it sends as the tarball has the integrity sha512-${reading.found.sha512}, and its document says another one`,
    )
}
