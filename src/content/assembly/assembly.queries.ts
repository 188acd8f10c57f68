import type { Queries, Transaction } from '../../database/database.ts'
import { type Parameters, prepareQuery } from '../../database/prepared.ts'
import type { AssembliesTable, AssemblyPartsTable } from '../../database/tables/assemblies.ts'

const byClaim = prepareQuery((q, p: Parameters<{ claimId: string }>) =>
  q.selectFrom('assemblies').selectAll().where('claim_id', '=', p('claimId')),
)

export const findAssembly = async (q: Queries, claimId: string): Promise<AssembliesTable | undefined> =>
  (await byClaim(q, { claimId }))[0]

/** Unless there is one already. */
export const insertAssembly = async (tx: Transaction, row: AssembliesTable): Promise<void> => {
  await tx
    .insertInto('assemblies')
    .values(row)
    .onConflict((conflict) => conflict.column('claim_id').doNothing())
    .execute()
}

export const markVerified = async (tx: Transaction, claimId: string): Promise<void> => {
  await tx.updateTable('assemblies').set({ verified: 1 }).where('claim_id', '=', claimId).execute()
}

/**
 * Remembers that so many bytes were verified, which ends appending. False where other bytes are stored by now: somebody
 * appended meanwhile.
 */
export const markAppendedVerified = async (
  tx: Transaction,
  { claimId, bytes }: { readonly claimId: string; readonly bytes: number },
): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable('assemblies')
    .set({ verified: 1 })
    .where('claim_id', '=', claimId)
    .where('stored_bytes', '=', bytes)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const saveHash = prepareQuery((q, p: Parameters<Omit<AssembliesTable, 'place' | 'stored_bytes' | 'verified'>>) =>
  q
    .updateTable('assemblies')
    .set({ hashed_parts: p('hashed_parts'), hash_state: p('hash_state') })
    .where('claim_id', '=', p('claim_id')),
)

export const insertPart = prepareQuery((q, p: Parameters<AssemblyPartsTable>) =>
  q.insertInto('assembly_parts').values({
    claim_id: p('claim_id'),
    part_index: p('part_index'),
    sha256: p('sha256'),
    receipt: p('receipt'),
  }),
)

/** Counts a part that gets its row in the same transaction. */
export const countStored = prepareQuery((q, p: Parameters<{ claimId: string; bytes: number }>) =>
  q
    .updateTable('assemblies')
    .set((eb) => ({ stored_bytes: eb('stored_bytes', '+', p('bytes')) }))
    .where('claim_id', '=', p('claimId')),
)

const grownTo = prepareQuery((q, p: Parameters<{ claimId: string; from: number; to: number; state: string | null }>) =>
  q
    .updateTable('assemblies')
    .set({ stored_bytes: p('to'), hash_state: p('state') })
    .where('claim_id', '=', p('claimId'))
    .where('stored_bytes', '=', p('from'))
    .where('verified', '=', 0)
    .returning('claim_id'),
)

/**
 * What is appended is stored so far. False where it did not end where we believed, since somebody else appends, and
 * where it was verified to be whole.
 */
export const growTo = async (
  tx: Transaction,
  step: { claimId: string; from: number; to: number; state: string | null },
): Promise<boolean> => (await grownTo(tx, step)).length > 0

/** A segment, in place of the shorter one under its index. */
export const putSegment = prepareQuery((q, p: Parameters<AssemblyPartsTable>) =>
  q
    .insertInto('assembly_parts')
    .values({ claim_id: p('claim_id'), part_index: p('part_index'), sha256: p('sha256'), receipt: p('receipt') })
    .onConflict((conflict) =>
      conflict.columns(['claim_id', 'part_index']).doUpdateSet((eb) => ({ receipt: eb.ref('excluded.receipt') })),
    ),
)

const partByIndex = prepareQuery((q, p: Parameters<{ claimId: string; index: number }>) =>
  q
    .selectFrom('assembly_parts')
    .select('sha256')
    .where('claim_id', '=', p('claimId'))
    .where('part_index', '=', p('index')),
)

export const findPart = async (
  q: Queries,
  claimId: string,
  index: number,
): Promise<Pick<AssemblyPartsTable, 'sha256'> | undefined> => (await partByIndex(q, { claimId, index }))[0]

export const countParts = async (q: Queries, claimId: string): Promise<number> =>
  (
    await q
      .selectFrom('assembly_parts')
      .select((eb) => eb.fn.countAll<number>().as('parts'))
      .where('claim_id', '=', claimId)
      .executeTakeFirstOrThrow()
  ).parts

/** Parts from an index on, in order. */
export const partPage = (q: Queries, claimId: string, from: number, limit: number): Promise<AssemblyPartsTable[]> =>
  q
    .selectFrom('assembly_parts')
    .selectAll()
    .where('claim_id', '=', claimId)
    .where('part_index', '>=', from)
    .orderBy('part_index')
    .limit(limit)
    .execute()

export const deleteAssembly = async (tx: Transaction, claimId: string): Promise<void> => {
  await tx.deleteFrom('assembly_parts').where('claim_id', '=', claimId).execute()
  await tx.deleteFrom('assemblies').where('claim_id', '=', claimId).execute()
}

/** Whether it was at this place still, and had no part; then it is gone. */
export const deleteEmptyAssembly = async (
  tx: Transaction,
  { claimId, place }: { readonly claimId: string; readonly place: string },
): Promise<boolean> => {
  const { numDeletedRows } = await tx
    .deleteFrom('assemblies')
    .where('claim_id', '=', claimId)
    .where('place', '=', place)
    .where('stored_bytes', '=', 0)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Assemblies of uploads that were cancelled: their claims are retired, or gone already. */
export const endedAssemblies = (q: Queries, limit: number): Promise<Pick<AssembliesTable, 'claim_id' | 'place'>[]> =>
  q
    .selectFrom('assemblies')
    .leftJoin('claims', (join) =>
      join.onRef('claims.id', '=', 'assemblies.claim_id').on('claims.state', '=', 'pending'),
    )
    .select(['assemblies.claim_id', 'assemblies.place'])
    .where('claims.id', 'is', null)
    .limit(limit)
    .execute()

/** Which of these places belong to an assembly. */
export const knownPlaces = async (q: Queries, places: readonly string[]): Promise<string[]> =>
  (await q.selectFrom('assemblies').select('place').where('place', 'in', places).execute()).map((row) => row.place)
