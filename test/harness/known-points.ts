import { randomUUID } from 'node:crypto'
import { inDatabase } from './rows.ts'
import type { TestService } from './service.ts'

const vault = '00000000-0000-7000-8000-00000000000f'
/** The moment that such a point shows. */
export const knownPointAt = '2026-01-01T00:00:00.000Z'
const at = knownPointAt

/** Makes a point known, of the vault that was looked at last or of one that nobody looks at; answers its id. */
export const knownPoint = async (service: Pick<TestService, 'databaseUrl'>): Promise<string> => {
  const id = randomUUID()
  await inDatabase(service, async (tx) => {
    const found = { vault_id: vault, vault_available: 1, encrypted: 0, free_bytes: 1, total_bytes: 2 } as const
    await tx
      .insertInto('backup_agents')
      .values({ id: 1, holder: 'nobody', lease_until: at, last_seen_at: at, version: '1', ...found })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    const { vault_id } = await tx.selectFrom('backup_agents').select('vault_id').executeTakeFirstOrThrow()
    await tx
      .insertInto('backup_points')
      .values({
        id,
        vault_id: vault_id ?? vault,
        snapshot_at: at,
        completed_at: at,
        blobs: 1,
        content_bytes: 1,
        new_bytes: 1,
        table_count: 1,
        row_count: 1,
        pinned: 0,
        verified_at: null,
        verify_depth: null,
        verify_error: null,
        forgotten_at: null,
        found_at: null,
        missing_since: null,
      })
      .execute()
  })
  return id
}
