import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { sql } from 'kysely'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { isRefused, lfsSite, newObject } from '../harness/lfs.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })

  it('a fault of ours is told in the words of the protocol, with the id that the log has, and nothing of what it was', async () => {
    const object = await site.push(newObject().bytes)
    await inDatabase(site.service, (q) => sql`alter table lfs_objects rename to lfs_away`.execute(q))
    try {
      for (const told of [
        await site.batch('download', [object]),
        await site.batch('upload', [object]),
        await site.ask({ path: `/lfs/releases/objects/${object.oid}/content` }),
      ]) {
        isRefused(told, 500, /./)
        assert.ok(!/lfs_objects|select|relation|no such table/i.test(told.text), told.text)
        assert.ok(
          site.service.log.some((line) => line.includes(told.json.request_id) && line.includes('fault of ours')),
        )
      }
    } finally {
      await inDatabase(site.service, (q) => sql`alter table lfs_away rename to lfs_objects`.execute(q))
    }
    assert.equal((await site.batch('download', [object])).status, 200)
  })
})
