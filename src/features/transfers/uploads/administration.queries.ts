import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'
import { idsBeyond, type Start } from '../../../kernel/order.ts'

const pending = sql.lit('pending' as const)

/** Uploads that are under way, of all repositories, ordered by id. */
export const openUploadsPage = (q: Queries, start: Start, limit: number) => {
  const { is, id } = idsBeyond(start)
  return q
    .selectFrom('uploads')
    .leftJoin('claims', 'claims.id', 'uploads.id')
    .leftJoin('assemblies', 'assemblies.claim_id', 'uploads.id')
    .select([
      'uploads.id',
      'uploads.repository',
      'uploads.kind',
      'uploads.owner',
      'uploads.created_at',
      'uploads.expires_at',
      'uploads.turn_until',
      'claims.size',
      'assemblies.stored_bytes',
    ])
    .where('uploads.status', '=', pending)
    .where('uploads.id', is, id)
    .orderBy('uploads.id', start.order)
    .limit(limit)
    .execute()
}

export type OpenUploadRow = Awaited<ReturnType<typeof openUploadsPage>>[number]

/** Open sessions of accounts, and of service accounts, that are disabled. */
export const sessionsOfDisabled = (q: Queries, limit: number): Promise<{ id: string }[]> =>
  q
    .selectFrom('accounts')
    .innerJoin('uploads', (join) =>
      join.on((eb) => eb('uploads.owner', '=', eb(sql.lit('account:'), '||', eb.ref('accounts.id')))),
    )
    .select('uploads.id')
    .where('accounts.enabled', '=', 0)
    .where('uploads.status', '=', pending)
    .where('uploads.kind', '!=', 'raw')
    .unionAll(
      q
        .selectFrom('service_accounts')
        .innerJoin('uploads', (join) =>
          join.on((eb) =>
            eb('uploads.owner', '=', eb(sql.lit('service-account:'), '||', eb.ref('service_accounts.id'))),
          ),
        )
        .select('uploads.id')
        .where('service_accounts.enabled', '=', 0)
        .where('uploads.status', '=', pending)
        .where('uploads.kind', '!=', 'raw'),
    )
    .limit(limit)
    .execute()

/** Whether the account or service account that owns an upload is disabled. */
export const isDisabled = async (q: Queries, owner: string): Promise<boolean> => {
  const id = owner.slice(owner.indexOf(':') + 1)
  const accounts = owner.startsWith('account:') ? 'accounts' : 'service_accounts'
  const row = await q.selectFrom(accounts).select('enabled').where('id', '=', id).executeTakeFirst()
  return row?.enabled === 0
}
