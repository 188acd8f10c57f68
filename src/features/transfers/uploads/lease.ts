import type { Database, Transaction } from '../../../database/database.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { newId } from '../../../kernel/ids.ts'
import { uploadLeaseMs } from '../../../kernel/limits/transfers.ts'
import type { LeftLeases } from './left-leases.ts'
import { ended, lockOwn, type Session, type UploadScope } from './session.ts'
import { endLease, renewLease, setLease } from './uploads.queries.ts'

/**
 * One request at a time per upload, across processes: a lease in the upload's row. Its holder renews it while bytes
 * come; when the holder's process dies it lapses and another request may take over.
 */
export interface LeaseDeps {
  readonly database: Database
  readonly clock: Clock
  readonly leftLeases: LeftLeases
  readonly report: (message: string, error: unknown) => void
}

export interface UploadLease {
  /** Also names the staging place of a whole file. */
  readonly holder: string
  /**
   * Throws 503 `busy` unless the lease is surely ours: it stops well before the lease ends, whichever clock says so, so
   * that a write that is already with the disk ends before somebody else's begins.
   */
  assertHeld(): void
  /** Gives the lease back in the transaction that ends the work; fails it unless the lease is ours. */
  end(tx: Transaction): Promise<void>
}

export const leaseEnd = (nowMs: number): string => timestamp(nowMs + uploadLeaseMs)

const lost = (): Failure => new Failure('busy', 'Another request has taken this upload over.', { retryAfterSeconds: 5 })

/**
 * Takes the lease of a pending session and works under it. Whoever works ends the lease; when that fails it is given
 * back here. 404 for others' uploads, 409 `upload_state` unless the session is pending, 503 `busy` while another has
 * the lease.
 */
export const withLease = <T>(
  deps: LeaseDeps,
  scope: UploadScope,
  id: string,
  work: (session: Session, lease: UploadLease) => Promise<T>,
): Promise<T> => underLease(deps, id, (tx) => lockPending(tx, scope, id), work)

const lockPending = async (tx: Transaction, scope: UploadScope, id: string): Promise<Session> => {
  const session = await lockOwn(tx, scope, id)
  if (session.status !== 'pending') throw ended(session)
  return session
}

type Leased = Pick<UploadsTable, 'expires_at' | 'turn_holder' | 'turn_until'>

/** The same of any upload. `lock` locks its row, and throws unless the upload is the caller's, and pending. */
export const underLease = async <Row extends Leased, T>(
  deps: LeaseDeps,
  id: string,
  lock: (tx: Transaction) => Promise<Row>,
  work: (session: Row, lease: UploadLease) => Promise<T>,
): Promise<T> => {
  const holder = newId(deps.clock.now())
  const session = await takeLease(deps, id, holder, lock)
  try {
    return await whileRenewing(deps, id, holder, (assertHeld) =>
      work(session, {
        holder,
        assertHeld,
        end: async (tx) => {
          if (!(await endLease(tx, id, holder))) throw lost()
        },
      }),
    )
  } catch (error) {
    await leaveLease(deps, id, holder).catch((second: unknown) => {
      deps.leftLeases.add(holder)
      deps.report('the lease of an upload could not be given back; to other processes it lapses by itself', second)
    })
    throw error
  }
}

const takeLease = <Row extends Leased>(
  deps: LeaseDeps,
  id: string,
  holder: string,
  lock: (tx: Transaction) => Promise<Row>,
): Promise<Row> =>
  deps.database.transaction(
    async (tx) => {
      const session = await lock(tx)
      const nowMs = deps.clock.now()
      const now = timestamp(nowMs)
      if (session.expires_at <= now)
        throw new Failure('upload_state', 'The upload session has expired; start a new one.')
      const left = session.turn_holder !== null && deps.leftLeases.has(session.turn_holder)
      if (session.turn_until !== null && session.turn_until > now && !left)
        throw new Failure('busy', 'Another request is sending to this upload.', { retryAfterSeconds: 5 })
      await setLease(tx, { id, holder, until: leaseEnd(nowMs) })
      return session
    },
    { durability: 'relaxed' },
  )

/** Runs the work while renewing the lease, which the caller took. */
export const whileRenewing = async <T>(
  deps: LeaseDeps,
  uploadId: string,
  holder: string,
  work: (assertHeld: () => void) => Promise<T>,
): Promise<T> => {
  const watch = (): { wallMs: number; monotonicMs: number } => ({
    wallMs: deps.clock.now(),
    monotonicMs: performance.now(),
  })
  let renewed = watch()
  let isLost = false
  const renew = async (): Promise<void> => {
    const asked = watch()
    const until = leaseEnd(asked.wallMs)
    const ours = await deps.database.transaction((tx) => renewLease(tx, uploadId, holder, until), {
      durability: 'relaxed',
    })
    if (ours) renewed = asked
    else isLost = true
  }
  const timer = setInterval(() => {
    renew().catch((error: unknown) => deps.report('the lease of an upload could not be renewed', error))
  }, uploadLeaseMs / 3)
  const assertHeld = (): void => {
    const now = watch()
    const silentMs = Math.max(now.wallMs - renewed.wallMs, now.monotonicMs - renewed.monotonicMs)
    if (isLost || silentMs > (uploadLeaseMs * 2) / 3) throw lost()
  }
  try {
    return await work(assertHeld)
  } finally {
    clearInterval(timer)
  }
}

/** Gives the lease back, for the next try. */
const leaveLease = (deps: LeaseDeps, uploadId: string, holder: string): Promise<unknown> =>
  deps.database.transaction((tx) => endLease(tx, uploadId, holder), { durability: 'relaxed' })
