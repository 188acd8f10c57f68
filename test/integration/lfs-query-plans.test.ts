import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, it } from 'node:test'
import { newId } from '../../src/kernel/ids.ts'
import { MiB } from '../../src/kernel/units.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { lfsSite, newObject } from '../harness/lfs.ts'
import { analyze, planReader } from '../harness/query-plans.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/** Rows of each big table; what is asked for is a small part of them. */
const rowCount = 6_000
const smallRows = 1_000
/**
 * Of repositories there are as many as people made; an index of what is open has nothing else; locks are counted up to
 * a bound.
 */
const readWhole =
  /^(?:(?:SCAN|Seq Scan) (?:repositories|claims USING COVERING INDEX claims_pending) |Seq Scan lfs_locks in select "id" from "lfs_locks" where "repository" = \$1 limit)/
const base = '/api/v1/repositories/releases/lfs'
const locks = '/lfs/releases/team/locks'

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, say, push, action } = site
  const oidOf = (number: number): string => hash('sha256', `object ${number}`)

  before(async () => {
    await push(newObject().bytes)
    await expect(say(locks, { path: 'locked' }), 201)
    await inDatabase(site.service, async (q) => {
      const one = await q.selectFrom('lfs_objects').selectAll().executeTakeFirstOrThrow()
      const claim = await q.selectFrom('claims').selectAll().where('id', '=', one.id).executeTakeFirstOrThrow()
      const lock = await q.selectFrom('lfs_locks').selectAll().executeTakeFirstOrThrow()
      const now = new Date().toISOString()
      for (let start = 0; start < rowCount; start += 500) {
        const rows = Array.from({ length: 500 }, (_, index) => ({
          number: start + index,
          id: newId(Date.now() + start + index),
        }))
        // A third was deleted; the claims of those are retired.
        const deletedAt = (number: number): string | null => (number % 3 === 0 ? now : null)
        await q
          .insertInto('claims')
          .values(rows.map(({ number, id }) => ({ ...claim, id, sha256: oidOf(number) })))
          .execute()
        await q
          .insertInto('lfs_objects')
          .values(rows.map(({ number, id }) => ({ ...one, id, sha256: oidOf(number), deleted_at: deletedAt(number) })))
          .execute()
        await q
          .insertInto('lfs_locks')
          .values(rows.map(({ number, id }) => ({ ...lock, id, path: `p${number}`, digest: oidOf(number) })))
          .execute()
      }
    })
    await analyze(site.service.databaseUrl)
  })

  const faultsOf = planReader(
    () => site.service,
    smallRows,
    (fault) => readWhole.test(fault),
  )

  it('what clients ask for is found by indexes, however many objects and locks there are', async () => {
    const there = await push(newObject().bytes)
    const objects = [there, ...Array.from({ length: 99 }, (_, at) => ({ oid: oidOf(at), size: 300 }))]
    const gone = await push(newObject().bytes)
    await expect({ method: 'DELETE', path: `${base}/objects/${gone.oid}`, credential: site.key }, 204)
    const { next } = (await expect({ path: `${base}/objects?limit=5` }, 200)).json
    const deleted = (await expect({ path: `${base}/deleted-objects?limit=5&order=desc` }, 200)).json
    const { next_cursor } = (await expect({ path: `${locks}?limit=5` }, 200)).json
    const { id } = (await expect(say(locks, { path: 'to be unlocked' }), 201)).json.lock
    const large = newObject(MiB)
    const { href, header } = (await action('upload', large)) as { href: string; header: Record<string, string> }
    const rest = new URL(href).pathname.replace(/content$/, 'rest')
    const begun = { headers: { ...header, 'upload-offset': '0' }, credential: null }
    const path = `${rest}?size=${large.size}`
    const fresh = newObject()
    const asked: Readonly<Record<string, readonly [Ask, number]>> = {
      'batch of downloads': [say('/lfs/releases/objects/batch', { operation: 'download', objects }), 200],
      'batch of uploads': [say('/lfs/releases/objects/batch', { operation: 'upload', objects }), 200],
      'an object': [{ path: `/lfs/releases/objects/${there.oid}/content` }, 200],
      'a new object': [{ method: 'PUT', path: `/lfs/releases/objects/${fresh.oid}/content`, body: fresh.bytes }, 200],
      verify: [say(`/lfs/releases/objects/${there.oid}/check`, there), 200],
      'the first part of an upload': [{ method: 'PATCH', path, ...begun, body: large.bytes.subarray(0, 1_000) }, 204],
      'how far an upload is': [{ method: 'HEAD', path, ...begun }, 204],
      'objects behind a cursor': [{ path: `${base}/objects?limit=5&after=${next}` }, 200],
      'objects, the newest first': [{ path: `${base}/objects?order=desc` }, 200],
      'deleted objects': [{ path: `${base}/deleted-objects?limit=5` }, 200],
      'deleted objects behind a cursor': [
        { path: `${base}/deleted-objects?order=desc&limit=5&after=${deleted.next}` },
        200,
      ],
      'what is restored': [{ method: 'POST', path: `${base}/deleted-objects/${gone.oid}/restore` }, 200],
      'what is deleted': [{ method: 'DELETE', path: `${base}/objects/${there.oid}`, credential: site.key }, 204],
      locks: [{ path: locks }, 200],
      'locks behind a cursor': [{ path: `${locks}?limit=5&cursor=${next_cursor}` }, 200],
      'a lock by its path': [{ path: `${locks}?path=p77` }, 200],
      'a lock by its id': [{ path: `${locks}?id=${id}` }, 200],
      'locks before a push': [say(`${locks}/verify`, { limit: 5, cursor: next_cursor }), 200],
      'a new lock': [say(locks, { path: 'new' }), 201],
      'a lock that goes': [say(`${locks}/${id}/unlock`, {}), 200],
    }
    const faults: string[] = []
    for (const [what, [request, status]] of Object.entries(asked))
      faults.push(...(await faultsOf(what, () => expect(request, status))))
    assert.deepEqual(faults, [])
  })
})
