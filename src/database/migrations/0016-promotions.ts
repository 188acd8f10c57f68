import { type RawBuilder, sql } from 'kysely'
import type { Migration } from '../migration.ts'

/** Which file is the copy of which, as far as the journals still tell: of each two ends the last time. */
export const promotions: Migration = {
  number: 16,
  name: 'promotions',
  async up(q, { text, integer }) {
    await q.schema
      .createTable('promotions')
      .addColumn('source_id', text, (c) => c.notNull())
      .addColumn('source_repository', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('target', text, (c) => c.notNull().references('repositories.id'))
      .addColumn('copy_id', text, (c) => c.notNull())
      .addColumn('mode', text, (c) => c.notNull())
      .addColumn('promoted_at', text, (c) => c.notNull())
      .addColumn('source_revision', integer)
      .addColumn('copy_revision', integer)
      .addPrimaryKeyConstraint('promotions_key', ['source_id', 'target', 'copy_id'])
      .execute()
    await q.schema.createIndex('promotions_by_copy').on('promotions').column('copy_id').execute()
    // One of the two journals may have forgotten what the other still tells.
    await fillFrom('artifact.promoted', { source: own, copy: peer }).execute(q)
    await fillFrom('artifact.received', { source: peer, copy: own }).execute(q)
  },
}

interface End {
  readonly id: RawBuilder<unknown>
  readonly repository: RawBuilder<unknown>
}

const own: End = { id: sql`j.artifact_id`, repository: sql`j.repository` }
const peer: End = { id: sql`j.peer_artifact_id`, repository: sql`j.peer_repository` }

const fillFrom = (action: string, { source, copy }: { readonly source: End; readonly copy: End }) => sql`
  insert into promotions (source_id, source_repository, target, copy_id, mode, promoted_at)
  select ${source.id}, ${source.repository}, ${copy.repository}, ${copy.id}, j.mode, j.occurred_at
  from journal as j
  join (
    select repository, max(sequence) as sequence from journal
    where action = ${sql.lit(action)} and mode is not null and peer_repository is not null and peer_artifact_id is not null
    group by repository, artifact_id, peer_repository, peer_artifact_id
  ) as last on last.repository = j.repository and last.sequence = j.sequence
  where (
      exists (select 1 from artifacts as a where a.id = ${copy.id} and a.repository = ${copy.repository})
      or exists (select 1 from deleted_artifacts as d where d.id = ${copy.id} and d.repository = ${copy.repository})
    )
    and exists (select 1 from repositories as r where r.id = ${source.repository})
  on conflict do nothing`
