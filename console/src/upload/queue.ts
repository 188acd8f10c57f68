import { useSyncExternalStore } from 'react'
import { isProblem, Problem } from '../contract/problem.ts'
import { queries } from '../contract/queries.ts'
import { randomId } from '../platform/ids.ts'
import { ask } from '../session/holders.ts'
import { onSession, onSignOut, session } from '../session/session.ts'
import { isReadable } from './readable.ts'
import { allRecords, dropRecord, keepRecord, type UploadRecord } from './records.ts'
import { transfer } from './transfer.ts'

/** An upload as this tab sees it. */
export interface Upload {
  readonly record: UploadRecord
  /** Null after a reload, until the same file is given again. */
  readonly file: File | null
  readonly state:
    | 'waiting'
    | 'reading'
    | 'sending'
    | 'finishing'
    | 'done'
    | 'same'
    | 'failed'
    | 'paused'
    | 'no-file'
    | 'cancelled'
  readonly sent: number
  readonly error: unknown
}

export interface Wanted {
  readonly repository: string
  readonly path: string
  readonly file: File
  readonly handle: FileSystemFileHandle | null
}

/** So that a page of the same service still gets its answers: browsers open six connections to it. */
const atOnce = 3
/** A service that is started anew is away for less than all of them take. */
const triesMax = 8
const waitMostMs = 15_000

let uploads: readonly Upload[] = []
/** Those of them that whoever is signed in began. */
let own: readonly Upload[] = []
const listeners = new Set<() => void>()
const aborts = new Map<string, AbortController>()

const isOwn = ({ record }: Upload): boolean => record.person === session()?.account.id

const set = (next: readonly Upload[]): void => {
  uploads = next
  own = uploads.filter(isOwn)
  for (const listener of listeners) listener()
}

export const useUploads = (): readonly Upload[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => own,
  )

const change = (id: string, next: Partial<Upload>): void =>
  set(uploads.map((each) => (each.record.id === id ? { ...each, ...next } : each)))

const found = (id: string): Upload | undefined => uploads.find(({ record }) => record.id === id)

/** A file that was asked for before and is given again: its digests and what was sent of it still count. */
const isAgain = (upload: Upload, wanted: Wanted): boolean => {
  const { record, state } = upload
  return (
    isOwn(upload) &&
    (state === 'no-file' || state === 'failed') &&
    record.repository === wanted.repository &&
    record.path === wanted.path &&
    record.size === wanted.file.size &&
    record.modified === wanted.file.lastModified
  )
}

/** Adds files to those that are to be sent, or goes on with those that a reload left. */
export const enqueue = (wanted: readonly Wanted[]): void => {
  const person = session()?.account.id
  if (person === undefined) return
  let next = uploads
  const fresh: Upload[] = []
  for (const one of wanted) {
    const again = next.find((each) => isAgain(each, one))
    if (again !== undefined) {
      next = next.map((each) => (each === again ? { ...each, file: one.file, state: 'waiting', error: null } : each))
      continue
    }
    const record: UploadRecord = {
      id: randomId(),
      person,
      repository: one.repository,
      path: one.path,
      size: one.file.size,
      modified: one.file.lastModified,
      idempotencyKey: randomId(),
      sha256: null,
      parts: [],
      uploadId: null,
      handle: one.handle,
    }
    fresh.push({ record, file: one.file, state: 'waiting', sent: 0, error: null })
    void keepRecord(record)
  }
  set([...next, ...fresh])
  pump()
}

const isBusy = ({ state }: Upload): boolean => state === 'reading' || state === 'sending' || state === 'finishing'

const pump = (): void => {
  let free = atOnce - uploads.filter(isBusy).length
  for (const upload of own) {
    if (free <= 0) return
    if (upload.state !== 'waiting' || upload.file === null) continue
    free -= 1
    change(upload.record.id, { state: 'reading' })
    void run(upload.record.id, upload.file)
  }
}

const isPassing = (error: unknown): boolean =>
  isProblem(error) && (error.status === 0 || error.status === 429 || error.status === 503 || error.status === 408)

const waitFor = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const run = async (id: string, file: File): Promise<void> => {
  const abort = new AbortController()
  aborts.set(id, abort)
  try {
    for (let tried = 1; ; tried += 1) {
      const upload = found(id)
      if (upload === undefined) return
      try {
        const outcome = await transfer(upload.record, file, abort.signal, {
          state: (state) => change(id, { state }),
          sent: (sent) => change(id, { sent }),
          keep: (record) => {
            if (abort.signal.aborted || found(id) === undefined) return
            change(id, { record })
            void keepRecord(record)
          },
        })
        change(id, { state: outcome, sent: file.size })
        void dropRecord(id)
        break
      } catch (error) {
        if (abort.signal.aborted) throw error
        // A browser tells of a file that it cannot read any more as of a network that is away.
        if (!(await isReadable(file))) throw new Problem(0, 'file_changed', '')
        if (tried >= triesMax || !isPassing(error)) throw error
        const seconds = isProblem(error) ? error.retryAfterSeconds : null
        await waitFor(seconds === null ? Math.min(500 * 2 ** tried, waitMostMs) : seconds * 1000)
      }
    }
    void refreshSoon()
  } catch (error) {
    if (abort.signal.aborted) return
    // Who is not signed in any more goes on after the next sign-in.
    if (isProblem(error) && error.status === 401) change(id, { state: 'paused', error })
    else change(id, { state: 'failed', error })
  } finally {
    aborts.delete(id)
    pump()
  }
}

let refreshing: ReturnType<typeof setTimeout> | undefined
const refreshSoon = (): void => {
  clearTimeout(refreshing)
  refreshing = setTimeout(() => void queries.invalidateQueries({ queryKey: ['listAssetPage'] }), 400)
}

export const again = (id: string): void => {
  const upload = found(id)
  if (upload === undefined) return
  change(id, { state: upload.file === null ? 'no-file' : 'waiting', error: null })
  pump()
}

export const cancel = (id: string): void => {
  aborts.get(id)?.abort()
  change(id, { state: 'cancelled' })
  void dropRecord(id)
  const record = found(id)?.record
  if (record === undefined || record.uploadId === null) return
  // What the service keeps of it gives its room back; where that fails, it does when the session ends.
  const path = { repository: record.repository, id: record.uploadId }
  void ask('cancelUpload', { path })
    .catch(() => {})
    .then(() => queries.invalidateQueries({ queryKey: ['listOwnUploads'] }))
}

const pause = (id: string): void => {
  aborts.get(id)?.abort()
  change(id, { state: 'paused' })
}

/** Takes away what is over. */
export const clearDone = (): void =>
  set(uploads.filter((each) => !isOwn(each) || !/^(?:done|same|cancelled)$/.test(each.state)))

/** Asks the browser for the file behind a handle that it kept over a reload. */
export const reopen = async (id: string): Promise<void> => {
  const upload = found(id)
  const handle = upload?.record.handle
  if (upload === undefined || handle === null || handle === undefined) return
  const file = await handle.getFile()
  if (file.size !== upload.record.size || file.lastModified !== upload.record.modified) {
    change(id, { state: 'failed', error: new Problem(0, 'file_changed', '') })
    return
  }
  change(id, { file, state: 'waiting', error: null })
  pump()
}

/** What a page before this one left unfinished. */
export const recallUploads = async (): Promise<void> => {
  const records = await allRecords()
  const known = new Set(uploads.map(({ record }) => record.id))
  const left = records
    .filter(({ id }) => !known.has(id))
    .map((record): Upload => ({ record, file: null, state: 'no-file', sent: 0, error: null }))
  if (left.length > 0) set([...uploads, ...left])
}

/** Of whoever signs out nothing stays: neither what was sent from this tab nor what any tab has left to send. */
const forgetUploads = async (person: string): Promise<void> => {
  const isTheirs = (record: UploadRecord): boolean => record.person === person
  for (const { record } of uploads) if (isTheirs(record)) aborts.get(record.id)?.abort()
  set(uploads.filter(({ record }) => !isTheirs(record)))
  await Promise.all((await allRecords()).filter(isTheirs).map(({ id }) => dropRecord(id)))
}

onSignOut((person) => void forgetUploads(person))

onSession(() => {
  // Another person may have come; what was begun by the one before waits for them.
  for (const upload of uploads) if (isBusy(upload) && !isOwn(upload)) pause(upload.record.id)
  set(
    uploads.map((each) => (isOwn(each) && each.state === 'paused' ? { ...each, state: 'waiting', error: null } : each)),
  )
  pump()
})

window.addEventListener('beforeunload', (event) => {
  if (uploads.some(isBusy)) event.preventDefault()
})
