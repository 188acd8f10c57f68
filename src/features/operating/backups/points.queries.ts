import type { ExpressionBuilder } from 'kysely'
import type { Queries, Transaction } from '../../../database/database.ts'
import type { BackupPointsTable } from '../../../database/tables/backups.ts'
import type { Tables } from '../../../database/tables/index.ts'
import type { Position } from './positions.ts'

export type PointRow = BackupPointsTable

/** Nobody gave it up, and another service that took it has not taken it away. */
const isShown = (eb: ExpressionBuilder<Tables, 'backup_points'>) =>
  eb.and([eb('forgotten_at', 'is', null), eb.or([eb('missing_since', 'is', null), eb('found_at', 'is', null)])])

/** Adds a point, unless it is known. */
export const insertPoint = async (tx: Transaction, row: PointRow): Promise<void> => {
  await tx
    .insertInto('backup_points')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

export const findPoint = (q: Queries, vault: string, id: string): Promise<PointRow | undefined> =>
  q
    .selectFrom('backup_points')
    .selectAll()
    .where('id', '=', id)
    .where('vault_id', '=', vault)
    .where(isShown)
    .executeTakeFirst()

/** Every point of a vault that is known, also those that are shown to nobody any more. */
export const knownPoints = (q: Queries, vault: string): Promise<PointRow[]> =>
  q.selectFrom('backup_points').selectAll().where('vault_id', '=', vault).execute()

/** Points that somebody gave up and that may still lie in the vault. */
export const givenUpPoints = async (q: Queries, vault: string): Promise<string[]> => {
  const rows = await q
    .selectFrom('backup_points')
    .select('id')
    .where('vault_id', '=', vault)
    .where('forgotten_at', 'is not', null)
    .where('missing_since', 'is', null)
    .execute()
  return rows.map(({ id }) => id)
}

/** Points of a vault that nobody gave up, newest first. */
export const listPoints = (q: Queries, vault: string, before: Position | null, limit: number): Promise<PointRow[]> =>
  q
    .selectFrom('backup_points')
    .selectAll()
    .where('vault_id', '=', vault)
    .where(isShown)
    .$if(before !== null, (query) =>
      query.where((eb) => eb(eb.refTuple('snapshot_at', 'id'), '<', eb.tuple(before?.at ?? '', before?.id ?? ''))),
    )
    .orderBy('snapshot_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** The same, and keeps it as it is until the end of the transaction. */
export const lockPoint = (tx: Transaction, vault: string, id: string): Promise<PointRow | undefined> =>
  tx
    .selectFrom('backup_points')
    .selectAll()
    .where('id', '=', id)
    .where('vault_id', '=', vault)
    .where(isShown)
    .forUpdate()
    .executeTakeFirst()

/** All of a vault that nobody gave up, as they are until the end of the transaction. */
export const lockPoints = (tx: Transaction, vault: string): Promise<PointRow[]> =>
  tx
    .selectFrom('backup_points')
    .selectAll()
    .where('vault_id', '=', vault)
    .where(isShown)
    .orderBy('id')
    .forUpdate()
    .execute()

export const updatePoint = async (tx: Transaction, id: string, to: Partial<PointRow>): Promise<boolean> => {
  const { numUpdatedRows } = await tx
    .updateTable('backup_points')
    .set(to)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Notes of those whose manifests are away since when, and of those that are back that they are. */
export const notePresence = async (
  tx: Transaction,
  ids: readonly string[],
  missingSince: string | null,
): Promise<void> => {
  if (ids.length > 0)
    await tx.updateTable('backup_points').set({ missing_since: missingSince }).where('id', 'in', ids).execute()
}

export const deletePoints = async (tx: Transaction, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await tx.deleteFrom('backup_points').where('id', 'in', ids).execute()
}

/** Files of a vault that were found to be damaged. */
export const damagedFiles = async (q: Queries, vault: string): Promise<string[]> =>
  (await q.selectFrom('backup_damage').select('name').where('vault_id', '=', vault).execute()).map(({ name }) => name)

export const noteDamage = async (
  tx: Transaction,
  vault: string,
  names: readonly string[],
  now: string,
): Promise<void> => {
  for (const name of names)
    await tx
      .insertInto('backup_damage')
      .values({ vault_id: vault, name, found_at: now })
      .onConflict((conflict) => conflict.columns(['vault_id', 'name']).doNothing())
      .execute()
}

export const sharesRead = (q: Queries, vault: string): Promise<{ share: number; read_at: string }[]> =>
  q.selectFrom('backup_shares').select(['share', 'read_at']).where('vault_id', '=', vault).execute()

export const noteShare = async (tx: Transaction, vault: string, share: number, at: string): Promise<void> => {
  await tx
    .insertInto('backup_shares')
    .values({ vault_id: vault, share, read_at: at })
    .onConflict((conflict) => conflict.columns(['vault_id', 'share']).doUpdateSet({ read_at: at }))
    .execute()
}
