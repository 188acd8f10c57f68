import { sql } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'
import { cancelledUploadsForgotten, cancelledUploadsPerCallerMax } from '../../../kernel/limits/transfers.ts'

export const findUpload = (
  q: Queries,
  repository: string,
  id: string,
  owner: string,
): Promise<UploadsTable | undefined> =>
  q
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', id)
    .where('repository', '=', repository)
    .where('owner', '=', owner)
    .where('kind', '=', 'session')
    .executeTakeFirst()

export const findAppended = async (q: Queries, id: string): Promise<UploadsTable | undefined> =>
  (await byId(q, { id }))[0]

const byId = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.selectFrom('uploads').selectAll().where('id', '=', p('id')),
)

/**
 * How many uploads that are appended to are open of an owner, counted up to a bound: those whose names begin so, or for
 * null those whose names have no colon.
 */
export const openAppendedOf = async (
  q: Queries,
  owner: string,
  protocol: string | null,
  bound: number,
): Promise<number> =>
  (
    await q
      .selectFrom('uploads')
      .select('id')
      .where('owner', '=', owner)
      .where('status', '=', sql.lit('pending' as const))
      .where('kind', '=', 'appended')
      .where('name', protocol === null ? 'not like' : 'like', protocol === null ? '%:%' : `${protocol}%`)
      .limit(bound)
      .execute()
  ).length

/** Those that are open of an owner for one thing, with how much of each is stored. */
export const openAppendedFor = (q: Queries, owner: string, repository: string, name: string, limit: number) =>
  q
    .selectFrom('uploads')
    .leftJoin('assemblies', 'assemblies.claim_id', 'uploads.id')
    .select([
      'uploads.id',
      'uploads.expires_at',
      'uploads.turn_holder',
      'uploads.turn_until',
      'assemblies.stored_bytes',
    ])
    .where('uploads.owner', '=', owner)
    .where('uploads.status', '=', sql.lit('pending' as const))
    .where('uploads.kind', '=', 'appended')
    .where('uploads.repository', '=', repository)
    .where('uploads.name', '=', name)
    .orderBy('uploads.id')
    .limit(limit)
    .execute()

const lockById = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.selectFrom('uploads').selectAll().where('id', '=', p('id')).forUpdate(),
)

export const lockUpload = async (tx: Transaction, id: string): Promise<UploadsTable | undefined> =>
  (await lockById(tx, { id }))[0]

export const findByIdempotencyKey = (
  q: Queries,
  repository: string,
  owner: string,
  key: string,
): Promise<UploadsTable | undefined> =>
  q
    .selectFrom('uploads')
    .selectAll()
    .where('repository', '=', repository)
    .where('owner', '=', owner)
    .where('idempotency_key', '=', key)
    .executeTakeFirst()

export const insertUpload = prepareQuery((q, p: Parameters<UploadsTable>) =>
  q.insertInto('uploads').values({
    id: p('id'),
    repository: p('repository'),
    kind: p('kind'),
    owner: p('owner'),
    idempotency_key: p('idempotency_key'),
    name: p('name'),
    size: p('size'),
    sha256: p('sha256'),
    labels: p('labels'),
    metadata: p('metadata'),
    status: p('status'),
    created_at: p('created_at'),
    expires_at: p('expires_at'),
    ended_at: p('ended_at'),
    turn_holder: p('turn_holder'),
    turn_until: p('turn_until'),
  }),
)

export const updateUpload = async (
  tx: Transaction,
  id: string,
  to: Partial<Pick<UploadsTable, 'status' | 'expires_at' | 'ended_at' | 'turn_holder' | 'turn_until'>>,
): Promise<void> => {
  await tx.updateTable('uploads').set(to).where('id', '=', id).execute()
}

const deleteById = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.deleteFrom('uploads').where('id', '=', p('id')).returning('id'),
)

/** False where it was gone before. */
export const deleteUpload = async (tx: Transaction, id: string): Promise<boolean> =>
  (await deleteById(tx, { id })).length > 0

/** Forgets the oldest cancelled sessions of a caller beyond those that are kept, unless they still hold room. */
export const forgetCancelled = async (tx: Transaction, owner: string): Promise<void> => {
  const beyond = await tx
    .selectFrom('uploads')
    .leftJoin('claims', 'claims.id', 'uploads.id')
    .select('uploads.id')
    .where('uploads.owner', '=', owner)
    .where('uploads.status', '=', sql.lit('cancelled' as const))
    .where('claims.id', 'is', null)
    .orderBy('uploads.ended_at', 'desc')
    .offset(cancelledUploadsPerCallerMax)
    .limit(cancelledUploadsForgotten)
    .execute()
  for (const { id } of beyond) await deleteUpload(tx, id)
}

type LeaseValues = Pick<UploadsTable, 'id'> & { readonly holder: string; readonly until: string }

/** Gives the lease to a holder, whoever has it. The caller has locked the row. */
export const setLease = prepareQuery((q, p: Parameters<LeaseValues>) =>
  q
    .updateTable('uploads')
    .set({ turn_holder: p('holder'), turn_until: p('until') })
    .where('id', '=', p('id')),
)

const renewById = prepareQuery((q, p: Parameters<LeaseValues>) =>
  q
    .updateTable('uploads')
    .set({ turn_until: p('until') })
    .where('id', '=', p('id'))
    .where('turn_holder', '=', p('holder'))
    .returning('id'),
)

/** Lets the holder of a lease go on. False when the lease was lost. */
export const renewLease = async (tx: Transaction, id: string, holder: string, until: string): Promise<boolean> =>
  (await renewById(tx, { id, holder, until })).length > 0

const endById = prepareQuery((q, p: Parameters<Omit<LeaseValues, 'until'>>) =>
  q
    .updateTable('uploads')
    .set({ turn_holder: null, turn_until: null })
    .where('id', '=', p('id'))
    .where('turn_holder', '=', p('holder'))
    .returning('id'),
)

/** Gives a lease back. False when it was lost before. */
export const endLease = async (tx: Transaction, id: string, holder: string): Promise<boolean> =>
  (await endById(tx, { id, holder })).length > 0

/**
 * Sessions whose time is over and that nobody is sending to. The state stands in the text, so that SQLite sees its
 * partial index.
 */
export const expiredSessions = (q: Queries, now: string, limit: number) =>
  q
    .selectFrom('uploads')
    .select('id')
    .where('status', '=', sql.lit('pending' as const))
    .where('kind', '!=', 'raw')
    .where('expires_at', '<=', now)
    .where((eb) => eb.or([eb('turn_until', 'is', null), eb('turn_until', '<=', now)]))
    .limit(limit)
    .execute()

/** Transfers by path whose process died. */
export const lapsedTransfers = (q: Queries, now: string, limit: number) =>
  q.selectFrom('uploads').select('id').where('kind', '=', 'raw').where('turn_until', '<=', now).limit(limit).execute()

/** Sessions that ended so long ago that nobody asks for them, and that hold no room. */
export const forgottenUploads = (q: Queries, before: string, limit: number) =>
  q
    .selectFrom('uploads')
    .leftJoin('claims', (join) => join.onRef('claims.id', '=', 'uploads.id').on('claims.state', '=', 'retired'))
    .select('uploads.id')
    .where('uploads.ended_at', '<=', before)
    .where('claims.id', 'is', null)
    .limit(limit)
    .execute()

/** Leases that last beyond that moment. */
export const leasesAfter = (q: Queries, moment: string, limit: number) =>
  q.selectFrom('uploads').select(['id', 'turn_until']).where('turn_until', '>', moment).limit(limit).execute()

/**
 * Which staging places a request is writing to right now: those that its lease names, and those on their way to the
 * digest of its upload.
 */
export const placesInUse = async (
  q: Queries,
  remains: readonly { readonly place: string; readonly digest: string | null }[],
  now: string,
): Promise<Set<string>> => {
  const digests = remains.flatMap(({ digest }) => (digest === null ? [] : [digest]))
  const rows = await q
    .selectFrom('uploads')
    .select(['turn_holder', 'sha256'])
    .where('turn_until', '>', now)
    .where((eb) =>
      eb.or([
        eb(
          'turn_holder',
          'in',
          remains.map(({ place }) => place),
        ),
        ...(digests.length === 0 ? [] : [eb('sha256', 'in', digests)]),
      ]),
    )
    .execute()
  const live = new Set(rows.flatMap(({ turn_holder, sha256 }) => [turn_holder, sha256]))
  return new Set(
    remains
      .filter(({ place, digest }) => live.has(place) || (digest !== null && live.has(digest)))
      .map(({ place }) => place),
  )
}
