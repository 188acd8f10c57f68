import { append, storedBytes } from '../../../content/assembly/appended.ts'
import { findPendingClaim } from '../../../content/claims/claims.queries.ts'
import { reserve } from '../../../content/claims/claims.ts'
import type { Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { HolderKind } from '../../../database/tables/claims.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { allowanceFor } from './allowance.ts'
import { type UploadLease, underLease } from './lease.ts'
import { appendedRow, endTransfer } from './rows.ts'
import type { UploadScope } from './session.ts'
import {
  findAppended,
  insertUpload,
  lockUpload,
  openAppendedFor,
  openAppendedOf,
  updateUpload,
} from './uploads.queries.ts'
import { cancel, type UploadDeps } from './uploads.ts'

/**
 * Uploads that are appended to (`content/assembly/appended.ts`), for protocols whose clients say at the end what they
 * sent. One is known by its id to who began it, for what it was begun for. It lives in the database: any process goes
 * on with it, and an answer is only given for bytes that are durable.
 */
export interface AppendedScope extends UploadScope {
  /** What it was begun for, in the words of its protocol. */
  readonly name: string
}

interface Opening {
  /** How long one lives that nothing was sent to. */
  readonly lifetimeMs: number
  /** Of one protocol: whoever has as many by one of them may begin others by another. */
  readonly perCallerMax: number
}

/** Begins one, and answers its id. It reserves nothing before its first byte. 507 `upload_limit` for too many. */
export const openAppended = async (deps: UploadDeps, scope: AppendedScope, opening: Opening): Promise<string> => {
  const { repository, owner, name } = scope
  await deps.freeSpace.refuseUnlessRoomFor(0)
  const row = appendedRow({ repository, owner }, name, opening.lifetimeMs, deps.clock.now())
  await deps.database.transaction(async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    if ((await openAppendedOf(tx, owner, protocolOf(name), opening.perCallerMax)) >= opening.perCallerMax)
      throw new Failure(
        'upload_limit',
        `You have ${opening.perCallerMax} uploads open, which is as many as one may. Cancel some, or wait: they end by themselves.`,
      )
    await insertUpload(tx, row)
  })
  return row.id
}

/** What a name begins with; those of images have no colon. */
const protocolOf = (name: string): string | null => /^[a-z]+:/.exec(name)?.[0] ?? null

/** How much of it is stored. 404 for what is no open upload of this caller, for this. */
export const appendedBytes = async (deps: UploadDeps, scope: AppendedScope, id: string): Promise<number> => {
  if (!isOpen(await findAppended(deps.database.reader, id), scope)) throw notFound('upload')
  return storedBytes(deps, id)
}

/** One that is open, whoever sends to it. */
export interface OpenAppended {
  readonly id: string
  readonly stored: number
  /** Nobody sends to it at the moment. */
  readonly isIdle: boolean
}

type IdleDeps = Pick<UploadDeps, 'database' | 'clock' | 'leftLeases'>

/** Nobody has its lease, or who has it will never go on. */
const isIdle = ({ leftLeases }: IdleDeps, row: Pick<UploadsTable, 'turn_holder' | 'turn_until'>, now: string) =>
  row.turn_until === null || row.turn_until <= now || (row.turn_holder !== null && leftLeases.has(row.turn_holder))

/**
 * Those of a caller for one thing that are open: for protocols whose clients do not remember which they began. At most
 * so many are looked at.
 */
export const openAppendedOnes = async (
  deps: IdleDeps,
  { owner, repository, name }: AppendedScope,
  limit: number,
): Promise<readonly OpenAppended[]> => {
  const now = timestamp(deps.clock.now())
  const rows = await openAppendedFor(deps.database.reader, owner, repository, name, limit)
  return rows
    .filter(({ expires_at }) => expires_at > now)
    .map((row) => ({ id: row.id, stored: row.stored_bytes ?? 0, isIdle: isIdle(deps, row, now) }))
}

/** Ends one that nobody needs, unless somebody sends to it. Harmless for one that has ended. */
export const endIdleAppended = (deps: IdleDeps, scope: AppendedScope, id: string): Promise<void> =>
  deps.database.transaction(async (tx) => {
    const row = await lockUpload(tx, id)
    const now = timestamp(deps.clock.now())
    if (isOpen(row, scope) && isIdle(deps, row, now)) await cancel(tx, row, now)
  })

const isOpen = (row: UploadsTable | undefined, { repository, owner, name }: AppendedScope): row is UploadsTable =>
  row?.kind === 'appended' &&
  row.status === 'pending' &&
  row.repository === repository &&
  row.owner === owner &&
  row.name === name

const lockOpen = async (tx: Transaction, scope: AppendedScope, id: string): Promise<UploadsTable> => {
  const row = await lockUpload(tx, id)
  if (!isOpen(row, scope)) throw notFound('upload')
  return row
}

/** Works on it alone, under its lease. 404 as above, 503 `busy` while another request has the lease. */
export const withAppended = <T>(
  deps: UploadDeps,
  scope: AppendedScope,
  id: string,
  work: (lease: UploadLease) => Promise<T>,
): Promise<T> =>
  underLease(
    deps,
    id,
    (tx) => lockOpen(tx, scope, id),
    (_row, lease) => work(lease),
  )

export interface AppendedChunk {
  readonly kind: HolderKind
  /** Where the sender believes that it goes on; null where they did not say. */
  readonly offset: number | null
  readonly pieces: AsyncIterable<Uint8Array>
  /** How long it lives from its last byte on. */
  readonly lifetimeMs: number
}

/**
 * Appends under the lease, and answers how much is stored then. 416 `range_not_satisfiable` for another offset than the
 * end of what is stored, and everything that `content/assembly/appended.ts` throws. `alongside` runs with the last
 * record.
 */
export const appendChunk = async (
  deps: UploadDeps,
  { owner, repository }: AppendedScope,
  id: string,
  { kind, offset, pieces, lifetimeMs }: AppendedChunk,
  lease: UploadLease,
  alongside: (tx: Transaction) => Promise<void>,
): Promise<number> => {
  const known = await findPendingClaim(deps.database.reader, id)
  if (known === undefined) {
    if (offset !== null && offset !== 0)
      throw new Failure('range_not_satisfiable', 'Nothing of the upload is stored; what is appended begins at 0.')
    await deps.database.transaction(
      async (tx) => {
        const row = await lockUpload(tx, id)
        if (row?.status !== 'pending' || row.turn_holder !== lease.holder) throw notFound('upload')
        await reserve(tx, { id, repository, holder: kind, digest: null, bytes: 0 }, deps.capacityBytes)
      },
      { durability: 'relaxed' },
    )
  }
  const chunk = { offset, pieces, maxBytes: deps.maxObjectBytes, allowMore: () => allowanceFor(deps, owner) }
  return append(deps, id, chunk, lease, async (tx) => {
    await updateUpload(tx, id, { expires_at: timestamp(deps.clock.now() + lifetimeMs) })
    await alongside(tx)
  })
}

/** Whether anything is stored of it, or may be. */
export const hasRoom = async (q: Queries, id: string): Promise<boolean> => (await findPendingClaim(q, id)) !== undefined

/** Ends it in the transaction that publishes what came of it. Fails that unless the lease is ours. */
export const endAppended = async (tx: Transaction, id: string, lease: UploadLease): Promise<void> => {
  await lease.end(tx)
  await endTransfer(tx, id)
}

/** Cancels it, as a session is cancelled. 404 as above. */
export const cancelAppended = (deps: UploadDeps, scope: AppendedScope, id: string): Promise<void> =>
  deps.database.transaction(async (tx) => {
    await cancel(tx, await lockOpen(tx, scope, id), timestamp(deps.clock.now()))
  })
