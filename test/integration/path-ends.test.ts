import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { revisionsForgotten } from '../../src/kernel/limits/catalog.ts'
import { day } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { digestOf } from '../harness/inspection.ts'
import { createRepository, grant } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount, freshName } from '../harness/service-keys.ts'

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())

  /** A path that showed these bodies, one after the other, and the files that they became. */
  const shown = async (...bodies: string[]): Promise<{ path: string; ids: string[] }> => {
    const path = freshName('folder/path')
    const ids: string[] = []
    for (const body of bodies) ids.push((await put(path, `${body} at ${path}`)).json.artifact.id)
    return { path, ids }
  }
  const put = (path: string, body: string, headers = {}): Promise<Told> =>
    catalog.ask({ method: 'PUT', path: `/raw/${path}`, body, headers })
  const end = (path: string, query = '', headers = {}): Promise<Told> =>
    catalog.ask({ method: 'DELETE', path: `/raw/${path}${query}`, headers })
  const forget = (path: string, through: number): Promise<Told> =>
    catalog.ask({ path: '/asset/forget', credential: catalog.keeper, json: { path, through } })
  const restore = (path: string, sourceRevision: number, expectedRevision: number): Promise<Told> =>
    catalog.ask({ path: '/asset/restore', json: { path, sourceRevision, expectedRevision } })
  const of = ({ status, json }: Told): [number, string] => [status, json.code]
  const listed = async (path: string): Promise<string[]> =>
    (await catalog.get(`/assets?prefix=${path}`)).items
      .map((item: { path: string }) => item.path)
      .filter((each: string) => each === path)

  describe('ending a path', () => {
    it('is a revision that says so: listed no more, still in the history, in the audit and the feed', async () => {
      const { path, ids } = await shown('one', 'two')
      const { json: ended } = await catalog.expect({ method: 'DELETE', path: `/raw/${path}` }, 200)
      assert.deepEqual(ended, {
        path,
        revision: 3,
        artifactId: ids[1],
        actor: `account:${catalog.writer.id}`,
        createdAt: ended.createdAt,
        sourceRevision: null,
        removed: true,
      })
      assert.deepEqual(await listed(path), [])
      assert.deepEqual((await catalog.get(`/assets/page?prefix=${path}`)).items, [])
      const { items } = await catalog.get(`/asset/history?path=${path}`)
      assert.deepEqual(
        items.map(({ revision, removed }: Told['json']) => [revision, removed]),
        [
          [3, true],
          [2, undefined],
          [1, undefined],
        ],
      )
      assert.deepEqual(await catalog.get(`/asset/revision?path=${path}&revision=3`), ended)
      const last = (await catalog.journal(ids[1] ?? '')).at(-1)
      assert.deepEqual([last?.action, last?.detail], ['asset.remove', path])
    })

    it('answers 404 that says since when, and what brings it back, wherever it is read', async () => {
      const { path } = await shown('one')
      const { createdAt } = (await end(path)).json
      for (const where of [`/raw/${path}`, `/asset/content?path=${path}`, `/asset?path=${path}`]) {
        const told = await catalog.ask({ path: where })
        assert.deepEqual(of(told), [404, 'not_found'])
        assert.match(told.json.detail, new RegExp(`removed at ${createdAt}, by revision 2`))
        assert.match(told.json.detail, /sourceRevision 1 and expectedRevision 2/)
      }
      assert.deepEqual(of(await end(path)), [404, 'not_found'])
    })

    it('is told to nobody who may fetch files and may not read paths', async () => {
      const { path } = await shown('one')
      await end(path)
      const bindings = [binding(catalog.repository, 'content.read')]
      const account = await createServiceAccount(catalog.service, bindings)
      const { secret: credential } = await activeKey(catalog.service, account.id, { bindings })
      for (const where of ['/raw/', '/asset/content?path=']) {
        const removed = await catalog.ask({ path: where + path, credential })
        const never = await catalog.ask({ path: `${where}never/was`, credential })
        assert.deepEqual(of(removed), [404, 'not_found'])
        assert.equal(removed.json.detail, never.json.detail)
      }
    })

    it('is undone by restoring, and numbers go on', async () => {
      const { path, ids } = await shown('one')
      await end(path)
      assert.deepEqual(of(await restore(path, 2, 2)), [404, 'not_found'])
      assert.deepEqual(of(await restore(path, 1, 1)), [409, 'revision_mismatch'])
      const back = (await restore(path, 1, 2)).json
      assert.deepEqual([back.revision, back.artifactId, back.sourceRevision], [3, ids[0], 1])
      assert.deepEqual(await listed(path), [path])
      assert.equal((await end(path)).json.revision, 4)
    })

    it('leaves the path to whoever writes there next, with If-None-Match: * as well', async () => {
      const { path } = await shown('one')
      await end(path)
      const first = await put(path, 'new', { 'if-none-match': '*' })
      assert.deepEqual([first.status, first.json.revision, first.json.created], [201, 3, true])
      assert.deepEqual(of(await put(path, 'newer', { 'if-none-match': '*' })), [409, 'already_exists'])
      await end(path)
      const id = await catalog.published()
      const set = (expectedRevision: number): Promise<Told> =>
        catalog.ask({ method: 'PUT', path: '/asset', json: { path, artifactId: id, expectedRevision } })
      assert.deepEqual(of(await set(3)), [409, 'revision_mismatch'])
      assert.equal((await set(4)).json.revision, 5)
      await end(path)
      assert.equal((await set(0)).json.revision, 7)
    })

    it('may be about one revision or one content only', async () => {
      const { path } = await shown('one', 'two')
      assert.deepEqual(of(await end(path, '?expectedRevision=1')), [409, 'revision_mismatch'])
      const tag = (body: string): string => `"sha256:${digestOf(`${body} at ${path}`)}"`
      assert.deepEqual(of(await end(path, '', { 'if-match': tag('one') })), [412, 'precondition_failed'])
      const past = new Date(catalog.service.clock.now() - day).toUTCString()
      assert.deepEqual(of(await end(path, '', { 'if-unmodified-since': past })), [412, 'precondition_failed'])
      assert.equal((await end(path, '?expectedRevision=2', { 'if-match': `"x", ${tag('two')}` })).status, 200)
      const { path: other } = await shown('one')
      const remove = (expectedRevision: number): Promise<Told> =>
        catalog.ask({ method: 'DELETE', path: '/asset', json: { path: other, expectedRevision } })
      assert.deepEqual(of(await remove(2)), [409, 'revision_mismatch'])
      assert.equal((await remove(1)).status, 200)
      assert.deepEqual(of(await remove(1)), [404, 'not_found'])
    })

    it('needs asset.write, and is nowhere for who sees nothing', async () => {
      const { path } = await shown('one')
      const { token: credential } = catalog.reader
      const told = await catalog.ask({ method: 'DELETE', path: `/raw/${path}`, credential })
      assert.deepEqual(of(told), [403, 'permission_missing'])
      assert.deepEqual(of(await end('folder//path')), [400, 'invalid_request'])
      assert.deepEqual(of(await end('never/was')), [404, 'not_found'])
    })
  })

  describe('forgetting revisions', () => {
    it('frees their files: deleted, their bytes are gone after the grace period', async () => {
      const { path, ids } = await shown('secret')
      const [id = ''] = ids
      await end(path)
      assert.deepEqual(await catalog.blockers(id), ['asset_history'])
      const { json } = await forget(path, 2)
      assert.deepEqual(json, { path, forgotten: 2, oldestRevision: null, done: true })
      assert.deepEqual(await catalog.blockers(id), [])
      assert.equal((await catalog.journal(id)).at(-1)?.action, 'asset.forget')
      assert.equal((await catalog.remove(id)).json.outcome, 'deleted')
      await catalog.pass(2 * day)
      await catalog.inspection.upkeep()
      const bytes = digestOf(`secret at ${path}`)
      assert.deepEqual(
        await inDatabase(catalog.service, (q) =>
          q.selectFrom('blobs').where('sha256', '=', bytes).selectAll().execute(),
        ),
        [],
      )
      const read = await catalog.ask({ path: `/raw/${path}` })
      assert.match(read.json.detail, /What it showed before was forgotten/)
      assert.deepEqual(of(await catalog.ask({ path: `/asset/history?path=${path}` })), [404, 'not_found'])
      assert.equal((await put(path, 'after all')).json.revision, 3)
      assert.deepEqual((await catalog.get(`/asset/history?path=${path}`)).items.length, 1)
    })

    it('leaves what the path shows, and what is newer', async () => {
      const { path, ids } = await shown('one', 'two', 'three')
      assert.deepEqual(of(await forget(path, 3)), [409, 'revision_mismatch'])
      assert.deepEqual((await forget(path, 1)).json, { path, forgotten: 1, oldestRevision: 2, done: true })
      assert.deepEqual((await forget(path, 1)).json, { path, forgotten: 0, oldestRevision: 2, done: true })
      assert.deepEqual(await Promise.all(ids.map((id) => catalog.blockers(id))), [
        [],
        ['asset_history'],
        ['asset_history'],
      ])
      assert.deepEqual(of(await restore(path, 1, 3)), [404, 'not_found'])
      assert.equal((await restore(path, 2, 3)).status, 200)
      assert.deepEqual(of(await forget(path, 9)), [409, 'revision_mismatch'])
      assert.deepEqual(of(await forget('never/was', 1)), [404, 'not_found'])
    })

    it(`goes ${revisionsForgotten} revisions at a time`, async () => {
      const { path, ids } = await shown('one')
      const [artifact_id = ''] = ids
      const newest = revisionsForgotten + 51
      await inDatabase(catalog.service, async (q) => {
        const created = { actor: 'account:someone', created_at: new Date(0).toISOString(), source_revision: null }
        const rows = Array.from({ length: newest - 1 }, (_, n) => ({ path, revision: n + 2, artifact_id, ...created }))
        await q
          .insertInto('asset_revisions')
          .values(rows.map((row) => ({ repository: catalog.repository, ...row })))
          .execute()
        await q.updateTable('assets').set({ revision: newest }).where('path', '=', path).execute()
      })
      const told = [await forget(path, newest - 1), await forget(path, newest - 1)].map(({ json }) => json)
      assert.deepEqual(told, [
        { path, forgotten: revisionsForgotten, oldestRevision: revisionsForgotten + 1, done: false },
        { path, forgotten: 50, oldestRevision: newest, done: true },
      ])
    })

    it('is for service keys alone, and the refusal says so', async () => {
      const { path } = await shown('one', 'two')
      const told = await catalog.ask({ path: '/asset/forget', json: { path, through: 1 } })
      assert.deepEqual(of(told), [403, 'permission_missing'])
      assert.match(told.json.detail, /only service keys hold artifact\.delete/)
    })

    it('lets a repository be emptied and deleted; one made anew begins with the first revision', async () => {
      const { service } = catalog
      const repository = freshName('emptied')
      const at = `/api/v1/repositories/${repository}`
      await createRepository(service, repository)
      const bindings = [binding(repository, 'asset.write', 'artifact.delete')]
      const { secret: credential } = await activeKey(service, (await createServiceAccount(service, bindings)).id, {
        bindings,
      })
      const putAs = async (who: 'writer' | 'reader', body: string): Promise<Told> => {
        await grant(service, catalog[who], repository, 'write')
        return service.ask({ method: 'PUT', path: `${at}/raw/a`, credential: catalog[who].token, body })
      }
      const { json } = await putAs('writer', 'all there is')
      await expectAnswer(service, { method: 'DELETE', path: `${at}/raw/a`, credential }, 200)
      await expectAnswer(service, { path: `${at}/asset/forget`, credential, json: { path: 'a', through: 2 } }, 200)
      const removal = { path: `${at}/artifacts/${json.artifact.id}`, json: { expectedAnnotationRevision: 0 } }
      await expectAnswer(service, { method: 'DELETE', credential, ...removal }, 200)
      await catalog.pass(2 * day)
      await catalog.inspection.upkeep()
      await expectAnswer(service, { method: 'DELETE', path: at, credential: service.recoveryKey }, 204)
      await createRepository(service, repository)
      assert.equal((await putAs('reader', 'anew')).json.revision, 1)
    })
  })

  describe('at once', () => {
    const twelve = Array.from({ length: 12 }, (_, index) => index)

    it('one of many ends it', async () => {
      const { path } = await shown('one')
      const told = await Promise.all(twelve.map((n) => end(path, n % 2 === 0 ? '' : '?expectedRevision=1')))
      assert.deepEqual(told.map(({ status }) => status).sort(), [200, ...twelve.slice(1).map(() => 404)])
    })

    it('whoever puts, ends, restores and forgets leaves a history without gaps', async () => {
      const { path } = await shown('one', 'two')
      const told = await Promise.all(
        twelve.flatMap((n) => [put(path, `${n}`), end(path), restore(path, 1 + (n % 3), 3), forget(path, 1)]),
      )
      for (const { status, text } of told) assert.ok([200, 201, 404, 409].includes(status), text)
      const rows = await inDatabase(catalog.service, (q) =>
        q.selectFrom('asset_revisions').selectAll().where('path', '=', path).orderBy('revision').execute(),
      )
      assert.deepEqual(
        rows.map(({ revision }) => revision),
        rows.map((_, index) => (rows[0]?.revision ?? 0) + index),
      )
      assert.deepEqual(await listed(path), rows.at(-1)?.removed === 1 ? [] : [path])
    })

    it('a file whose revisions are forgotten goes or stays as one of them says', async () => {
      for (let round = 0; round < 5; round++) {
        const { path, ids } = await shown('one')
        const [id = ''] = ids
        await end(path)
        const [forgotten, removed, restored] = await Promise.all([
          forget(path, 2),
          catalog.remove(id),
          restore(path, 1, 2),
        ])
        assert.equal(forgotten.status, restored.status === 200 && forgotten.status !== 200 ? 409 : 200, forgotten.text)
        const shows = (await catalog.ask({ path: `/raw/${path}` })).status
        assert.equal(shows, restored.status === 200 ? 200 : 404)
        // Forgotten first, restoring finds nothing; restored first, nothing that it showed can be deleted.
        assert.equal(removed.json.outcome === 'deleted' && restored.status === 200, false)
      }
    })
  })
})
