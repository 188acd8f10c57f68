import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'

/** Uploads that are under way: how many, what they reserve, and how much of that is not written yet. */
export interface UnderWay {
  readonly uploads: number
  readonly bytes: number
  readonly unwrittenBytes: number
}

// The state stands in the text: only so does PostgreSQL see that its partial index has all there is to read.
const pending = sql.lit('pending' as const)

const ofAll = prepareQuery((q, _: Parameters<Record<never, never>>) =>
  q
    .selectFrom('claims')
    .leftJoin('assemblies', 'assemblies.claim_id', 'claims.id')
    .select((eb) => [
      eb.fn.countAll<number | string>().as('uploads'),
      eb.fn.sum<number | string | null>('claims.size').as('bytes'),
      eb.fn.sum<number | string | null>('assemblies.stored_bytes').as('written'),
    ])
    .where('claims.state', '=', pending),
)

const ofOwner = prepareQuery((q, p: Parameters<{ owner: string }>) =>
  q
    .selectFrom('uploads')
    .innerJoin('claims', 'claims.id', 'uploads.id')
    .leftJoin('assemblies', 'assemblies.claim_id', 'uploads.id')
    .select((eb) => [
      eb.fn.countAll<number | string>().filterWhere('uploads.kind', '=', sql.lit('session')).as('uploads'),
      eb.fn.sum<number | string | null>('claims.size').as('bytes'),
      eb.fn.sum<number | string | null>('assemblies.stored_bytes').as('written'),
    ])
    .where('uploads.owner', '=', p('owner'))
    .where('uploads.status', '=', pending),
)

type Sums = { uploads: number | string; bytes: number | string | null; written: number | string | null }

const underWay = ([row]: Sums[]): UnderWay => {
  const bytes = Number(row?.bytes ?? 0)
  return { uploads: Number(row?.uploads ?? 0), bytes, unwrittenBytes: bytes - Number(row?.written ?? 0) }
}

/** Those of all callers; there are no more than `openUploadsMax`, and requests. */
export const allUnderWay = async (tx: Transaction): Promise<UnderWay> => underWay(await ofAll(tx, {}))

/**
 * Those of one caller, of which sessions are counted; there are no more than `openUploadsPerCallerMax`, and requests.
 */
export const underWayOf = async (tx: Transaction, owner: string): Promise<UnderWay> =>
  underWay(await ofOwner(tx, { owner }))
