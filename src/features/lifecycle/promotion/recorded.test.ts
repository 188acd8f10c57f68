import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { failOnReport } from '../../../database/notes.suite.ts'
import { openDatabase } from '../../../database/open.ts'
import type { ArtifactsTable } from '../../../database/tables/artifacts.ts'
import type { JournalTable } from '../../../database/tables/journal.ts'
import { lastPublishedCopy } from './promotion.queries.ts'

const at = (minute: number): string => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`

const file = (id: string, repository: string): ArtifactsTable => ({
  id,
  repository,
  name: id,
  size: 0,
  sha256: '',
  labels: '[]',
  metadata: '{}',
  created_at: at(0),
  expires_at: at(0),
  published_at: at(0),
})

forEachEngine((engine) => {
  it('copies that were made before they were recorded are taken from the journals', async () => {
    const database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: failOnReport }))
    const before = migrations.findIndex(({ name }) => name === 'promotions')
    await migrate(database, migrations.slice(0, before))
    let sequence = 0
    const line = (
      action: JournalTable['action'],
      [repository, artifact_id]: readonly [string, string],
      [peer_repository, peer_artifact_id]: readonly [string, string],
      mode: 'copy' | 'move',
    ): Omit<JournalTable, 'peer_image'> => ({
      ...{ repository, artifact_id, action, mode, peer_repository, peer_artifact_id },
      ...{ sequence: ++sequence, detail: null, actor: 'account:x', comment: null, occurred_at: at(sequence) },
    })
    const sent = (from: string, to: string, mode: 'copy' | 'move') =>
      line('artifact.promoted', ['here', from], ['there', to], mode)
    await database.transaction(async (tx) => {
      for (const id of ['here', 'there'])
        await sql`insert into repositories (id, created_at, journal_head, published_bytes, pending_bytes, retired_bytes)
          values (${id}, ${at(0)}, 9, 0, 0, 0)`.execute(tx)
      await sql`insert into blobs (sha256, size, state) values ('', 0, 'stored')`.execute(tx)
      await tx
        .insertInto('artifacts')
        .values(['published', 'again', 'half'].map((id) => file(id, 'there')))
        .execute()
      await tx
        .insertInto('deleted_artifacts')
        .values({ ...file('deleted', 'there'), deleted_at: at(1), released_at: null })
        .execute()
      await tx
        .insertInto('journal')
        .values([
          sent('one', 'published', 'copy'),
          sent('one', 'deleted', 'copy'),
          sent('one', 'published', 'move'),
          sent('one', 'forgotten', 'copy'),
          sent('two', 'again', 'copy'),
          line('artifact.received', ['there', 'again'], ['here', 'two'], 'copy'),
          line('artifact.received', ['there', 'half'], ['here', 'three'], 'copy'),
        ])
        .execute()
    })
    await migrate(database, migrations.slice(0, before + 1))
    const rows = await database.reader.selectFrom('promotions').selectAll().orderBy('copy_id').execute()
    assert.deepEqual(
      rows.map((row) => [row.source_id, row.source_repository, row.target, row.copy_id, row.mode, row.promoted_at]),
      [
        ['two', 'here', 'there', 'again', 'copy', at(5)],
        ['one', 'here', 'there', 'deleted', 'copy', at(2)],
        ['three', 'here', 'there', 'half', 'copy', at(7)],
        ['one', 'here', 'there', 'published', 'move', at(3)],
      ],
    )
    assert.ok(rows.every(({ source_revision, copy_revision }) => source_revision === null && copy_revision === null))
    const found = await lastPublishedCopy(database.reader, 'one', 'there', ['move'])
    assert.equal(found?.copy_id, 'published')
  })
})
