import type { Answer } from '../contract/call.ts'
import { isProblem, Problem } from '../contract/problem.ts'
import { queries } from '../contract/queries.ts'
import { randomId } from '../platform/ids.ts'
import { ask } from '../session/holders.ts'
import { digestsOf } from './hashing.ts'
import type { UploadRecord } from './records.ts'
import { sendBytes } from './send.ts'

/** What is told while a file goes. */
export interface Telling {
  readonly state: (state: 'reading' | 'sending' | 'finishing') => void
  readonly sent: (bytes: number) => void
  readonly keep: (record: UploadRecord) => void
}

interface Seen {
  readonly revision: number
  readonly artifactId: string
}

const limits = (): Promise<Answer<'getCapabilities'>> =>
  queries.fetchQuery({
    queryKey: ['getCapabilities', {}],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => ask('getCapabilities', {}),
  })

/** What the path shows now; null where it shows nothing. */
const seenAt = async (repository: string, path: string, signal: AbortSignal): Promise<Seen | null> => {
  try {
    return await ask('getAsset', { path: { repository }, query: { path } }, signal)
  } catch (error) {
    if (isProblem(error) && error.status === 404) return null
    throw error
  }
}

/**
 * Reads the digests of a file, then sends it: whole where it is one part, else in parts that a later try does not send
 * again. The path is moved only from what it showed when this began.
 */
export const transfer = async (
  first: UploadRecord,
  file: File,
  signal: AbortSignal,
  tell: Telling,
): Promise<'done' | 'same'> => {
  const { repository, path } = first
  const { partBytes } = (await limits()).limits
  const seen = await seenAt(repository, path, signal)
  let record = first
  if (record.sha256 === null) {
    const { sha256, parts } = await digestsOf(record.id, file, partBytes, signal)
    record = { ...record, sha256, parts }
    tell.keep(record)
  }
  const sha256 = record.sha256 ?? ''
  const before =
    seen === null
      ? null
      : (await ask('getArtifact', { path: { repository, id: seen.artifactId } }, signal)).descriptor.sha256
  if (before === sha256) return 'same'
  tell.state('sending')
  if (file.size <= partBytes) {
    const condition = before === null ? {} : { 'if-match': `"sha256:${before}"` }
    const headers = { 'x-checksum-sha256': sha256, ...condition, ...(seen === null ? { 'if-none-match': '*' } : {}) }
    await sendBytes(
      'putRaw',
      repository,
      { path: { repository, assetPath: path }, headers, body: file },
      tell.sent,
      signal,
    )
    return 'done'
  }
  await inParts(record, file, partBytes, seen, signal, tell)
  return 'done'
}

const opened = (record: UploadRecord, file: File, signal: AbortSignal) =>
  ask(
    'createUpload',
    {
      path: { repository: record.repository },
      headers: { 'idempotency-key': record.idempotencyKey },
      body: {
        name: record.path.split('/').at(-1) ?? record.path,
        size: String(file.size),
        sha256: record.sha256 ?? '',
      },
    },
    signal,
  )

/** The session of an earlier try as long as it lives, or a new one; the record tells which. */
const openedOrAgain = async (given: UploadRecord, file: File, signal: AbortSignal) => {
  const upload = await opened(given, file, signal)
  if (upload.status !== 'cancelled') return { upload, record: { ...given, uploadId: upload.id } }
  const again = { ...given, idempotencyKey: randomId() }
  const fresh = await opened(again, file, signal)
  return { upload: fresh, record: { ...again, uploadId: fresh.id } }
}

const inParts = async (
  given: UploadRecord,
  file: File,
  partBytes: number,
  seen: Seen | null,
  signal: AbortSignal,
  tell: Telling,
): Promise<void> => {
  const { repository, path, parts } = given
  const { upload, record } = await openedOrAgain(given, file, signal)
  const { id } = upload
  tell.keep(record)
  if (upload.status === 'pending') {
    const { items } = await ask('listUploadParts', { path: { repository, id } }, signal)
    const stored = new Map(items.map((part) => [part.index, part]))
    let whole = items.reduce((sum, { size }) => sum + size, 0)
    tell.sent(whole)
    for (const [index, sha256] of parts.entries()) {
      if (stored.get(index)?.sha256 === sha256) continue
      const body = file.slice(index * partBytes, (index + 1) * partBytes, 'application/octet-stream')
      const start = whole
      await sendBytes(
        'putUploadPart',
        repository,
        { path: { repository, id, index: String(index) }, headers: { 'x-content-sha256': sha256 }, body },
        (sent) => tell.sent(start + sent),
        signal,
      )
      whole += body.size
    }
    tell.state('finishing')
    await completed(repository, id, signal)
  }
  await ask('putAsset', {
    path: { repository },
    body: { path, artifactId: id, expectedRevision: seen?.revision ?? 0 },
  })
}

const waitFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Has it verified and published, by a job that a cut does not end; asked after more and more seldom. */
const completed = async (repository: string, id: string, signal: AbortSignal): Promise<void> => {
  const job = await ask('completeUploadAsync', { path: { repository, id } }, signal)
  for (let pause = 250; ; pause = Math.min(pause * 1.5, 5000)) {
    const now = await ask('getJob', { path: { id: job.id } }, signal)
    if (now.status === 'completed') return
    if (now.status === 'failed') throw new Problem(0, 'completion_failed', now.errorCode ?? '')
    await waitFor(pause)
  }
}
