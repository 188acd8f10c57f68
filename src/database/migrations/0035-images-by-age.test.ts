import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../test/harness/engines.ts'
import { migrate } from '../migrate.ts'
import { failOnReport } from '../notes.suite.ts'
import { openDatabase } from '../open.ts'
import { migrations } from './index.ts'

/** Tags of manifests, with when they came, by what the manifests are. */
const manifests = {
  tagged: ['1 1', 'latest 3', 'old 2'],
  untagged: [],
  child: ['child 4'],
  referrer: ['signature 4'],
  alone: ['alone 5'],
  signature: [`sha256-${'0'.repeat(64)}.sig 6`],
  both: [`sha256-${'0'.repeat(64)}.sbom 6`, 'both 5'],
  alike: [`sha256-${'0'.repeat(64)}-not 7`],
} as const

forEachEngine((engine) => {
  it('images count from their newest tag on that came before', async () => {
    const database = engine.use(await openDatabase({ url: await engine.freshDatabaseUrl(), report: failOnReport }))
    await migrate(
      database,
      migrations.slice(
        0,
        migrations.findIndex(({ name }) => name === 'images-by-age'),
      ),
    )
    const subjects: Record<string, string> = { referrer: 'tagged', alone: 'nowhere' }
    await database.transaction(async (tx) => {
      await sql`insert into repositories (id, created_at, journal_head, published_bytes, pending_bytes, retired_bytes)
        values ('r', '2026', 0, 0, 0, 0)`.execute(tx)
      await sql`insert into oci_images (repository, name, created_at) values ('r', 'app', '2026')`.execute(tx)
      await sql`insert into oci_blobs (id, repository, sha256, size, created_at)
        values ('b', 'r', 'b', 1, '2026')`.execute(tx)
      for (const [id, tags] of Object.entries(manifests)) {
        await sql`insert into oci_manifests
          (id, repository, name, digest, blob_id, media_type, subject, pushed_at, actor)
          values (${id}, 'r', 'app', ${id}, 'b', 'x', ${subjects[id] ?? null}, '2026', 'x')`.execute(tx)
        for (const each of tags) {
          const [tag, moved_at] = each.split(' ')
          await sql`insert into oci_tags (repository, name, tag, manifest_id, moved_at, actor)
            values ('r', 'app', ${tag}, ${id}, ${moved_at}, 'x')`.execute(tx)
        }
      }
      await sql`insert into oci_references (manifest_id, position, repository, name, role, digest)
        values ('tagged', 0, 'r', 'app', 'manifest', 'child')`.execute(tx)
    })
    await migrate(database, migrations)
    const rows = await database.reader.selectFrom('oci_manifests').select(['id', 'tagged_at']).execute()
    assert.deepEqual(Object.fromEntries(rows.map(({ id, tagged_at }) => [id, tagged_at])), {
      ...{ tagged: '3', untagged: null, child: null, referrer: null },
      ...{ alone: '5', signature: null, both: '5', alike: '7' },
    })
  })
})
