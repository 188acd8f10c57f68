import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { refreshEntry } from '../../src/features/catalog/search/entries.ts'
import { assetHistoryPage, expectedRevisionMax, revisionMax } from '../../src/kernel/limits/catalog.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createPerson, createRepository, grant } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

const repository = 'one'
const base = `/api/v1/repositories/${repository}`

interface Revision {
  readonly path: string
  readonly revision: number
  readonly artifactId: string
  readonly actor: string | null
  readonly createdAt: string | null
  readonly sourceRevision: number | null
}

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  /** Published files. */
  const files: string[] = []

  before(async () => {
    catalog = await Catalog.open(engine)
    await createRepository(catalog.service, 'elsewhere')
    await grant(catalog.service, catalog.writer, 'elsewhere', 'write')
    for (const content of ['one', 'two', 'three']) files.push(await catalog.published(content))
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const file = (index: number): string => files[index] ?? ''
  let paths = 0
  const freshPath = (): string => `folder ${++paths}/%_ü.txt`
  const ask = (
    what: string,
    query: Record<string, string | number>,
    credential = catalog.reader.token,
  ): Promise<Told> => {
    const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    return catalog.service.ask({ path: `${base}/${what}?${text}`, credential })
  }
  const answered = async (told: Promise<Told>, status = 200, code?: string): Promise<Told['json']> => {
    const { status: seen, json, text } = await told
    assert.deepEqual([seen, code === undefined ? undefined : json.code], [status, code], text)
    return json
  }
  const put = (path: string, artifactId: string, expectedRevision: number): Promise<Told> =>
    catalog.service.ask({
      method: 'PUT',
      path: `${base}/asset`,
      credential: catalog.writer.token,
      json: { path, artifactId, expectedRevision },
    })
  const restore = (json: unknown, credential = catalog.writer.token): Promise<Told> =>
    catalog.service.ask({ path: `${base}/asset/restore`, credential, json })
  /** A path that showed these files, one after the other. */
  const shown = async (...ids: readonly string[]): Promise<string> => {
    const path = freshPath()
    for (const [index, id] of ids.entries()) await answered(put(path, id, index))
    return path
  }
  const pointsAt = async (told: Promise<Told>, pointer: string): Promise<void> => {
    const json = await answered(told, 400, 'invalid_request')
    assert.ok(
      json.details.some((detail: { pointer: string }) => detail.pointer === pointer),
      JSON.stringify(json),
    )
  }

  describe('the history of a path', () => {
    it('has every revision with who made it and when, newest first', async () => {
      const from = catalog.service.clock.now()
      const path = await shown(file(0), file(1), file(1))
      const { items, next } = await answered(ask('asset/history', { path }))
      assert.equal(next, null)
      const expected = [file(1), file(1), file(0)].map((artifactId, index) => ({
        path,
        revision: 3 - index,
        artifactId,
        actor: `account:${catalog.writer.id}`,
        actorName: catalog.writer.name,
        createdAt: items[index]?.createdAt,
        sourceRevision: null,
      }))
      assert.deepEqual(items, expected)
      for (const { createdAt } of items)
        assert.ok(Date.parse(createdAt) >= from && Date.parse(createdAt) <= catalog.service.clock.now(), createdAt)
      for (const { actorName: _, ...item } of items)
        assert.deepEqual(await answered(ask('asset/revision', { path, revision: item.revision })), item)
    })

    it('tells of what a raw upload replaced', async () => {
      const path = 'raw/build.bin'
      for (const body of ['first', 'second', 'second'])
        await catalog.service.ask({
          method: 'PUT',
          path: `${base}/raw/${path}`,
          credential: catalog.writer.token,
          body,
        })
      const { items } = await answered(ask('asset/history', { path }))
      assert.deepEqual(
        items.map(({ revision }: Revision) => revision),
        [2, 1],
      )
    })

    it(`comes in pages of ${assetHistoryPage}, and goes on where it was although revisions are added`, async () => {
      const path = await shown(file(0))
      await inDatabase(catalog.service, async (q) => {
        const rows = Array.from({ length: 2 * assetHistoryPage - 1 }, (_, index) => ({
          repository,
          path,
          revision: index + 2,
          artifact_id: file(index % 3),
          actor: 'account:someone',
          created_at: new Date(catalog.service.clock.now()).toISOString(),
          source_revision: null,
        }))
        await q.insertInto('asset_revisions').values(rows).execute()
        await q
          .updateTable('assets')
          .set({ revision: rows.length + 1, artifact_id: rows.at(-1)?.artifact_id ?? '' })
          .where('path', '=', path)
          .execute()
        for (const id of files) await refreshEntry(q, id)
      })
      const first = await answered(ask('asset/history', { path }))
      assert.deepEqual([first.items.length, first.next], [assetHistoryPage, assetHistoryPage + 1])
      await answered(put(path, file(2), 2 * assetHistoryPage))
      const second = await answered(ask('asset/history', { path, before: first.next }))
      assert.deepEqual([second.items.length, second.next], [assetHistoryPage, null])
      const revisions = [...first.items, ...second.items].map(({ revision }: Revision) => revision)
      assert.deepEqual(
        revisions,
        Array.from({ length: 2 * assetHistoryPage }, (_, index) => 2 * assetHistoryPage - index),
      )
      const whole = await answered(ask('asset/history', { path, before: revisionMax }))
      assert.equal(whole.items[0].revision, 2 * assetHistoryPage + 1)
      assert.deepEqual(await answered(ask('asset/history', { path, before: 1 })), { items: [], next: null })
    })

    it('is 404 for a path without revisions, and for a revision that never was', async () => {
      const path = await shown(file(0))
      for (const unknown of [`${path}x`, path.slice(0, -1), path.toUpperCase(), path.split('/')[0] ?? '']) {
        await answered(ask('asset/history', { path: unknown }), 404, 'not_found')
        await answered(ask('asset/history', { path: unknown, before: 5 }), 404, 'not_found')
        await answered(ask('asset/revision', { path: unknown, revision: 1 }), 404, 'not_found')
      }
      for (const revision of [2, revisionMax])
        await answered(ask('asset/revision', { path, revision }), 404, 'not_found')
      const elsewhere = `/api/v1/repositories/elsewhere/asset/history?${new URLSearchParams({ path })}`
      await expectAnswer(catalog.service, { path: elsewhere, credential: catalog.writer.token }, 404, 'not_found')
    })

    it('points at what is wrong in the question', async () => {
      const path = await shown(file(0))
      for (const what of ['asset/history', 'asset/revision'])
        for (const wrong of ['', '..', 'a//b', 'a:b', 'a\\b', '\u0001', 'x'.repeat(1025)])
          await pointsAt(
            ask(what, { path: wrong, ...(what === 'asset/revision' ? { revision: 1 } : {}) }),
            '/query/path',
          )
      for (const wrong of ['0', '-1', '1.5', 'x', '', String(revisionMax + 1)]) {
        await pointsAt(ask('asset/history', { path, before: wrong }), '/query/before')
        await pointsAt(ask('asset/revision', { path, revision: wrong }), '/query/revision')
      }
      await answered(ask('asset/revision', { path }), 400, 'invalid_request')
      await answered(ask('asset/history', {}), 400, 'invalid_request')
    })
  })

  describe('restoring a revision', () => {
    it('makes its file the newest revision, says where it came from, and is in the audit with its actor', async () => {
      const path = await shown(file(0), file(1))
      const restored = await answered(restore({ path, sourceRevision: 1, expectedRevision: 2 }))
      assert.deepEqual(restored, {
        path,
        revision: 3,
        artifactId: file(0),
        actor: `account:${catalog.writer.id}`,
        createdAt: restored.createdAt,
        sourceRevision: 1,
      })
      assert.deepEqual(await answered(ask('asset', { path })), { path, revision: 3, artifactId: file(0) })
      assert.equal((await ask('asset/content', { path })).text, 'one')
      assert.deepEqual((await answered(ask('asset/history', { path }))).items[0], {
        ...restored,
        actorName: catalog.writer.name,
      })
      const line = await inDatabase(catalog.service, (q) =>
        q.selectFrom('journal').selectAll().orderBy('sequence', 'desc').limit(1).executeTakeFirstOrThrow(),
      )
      assert.deepEqual(
        [line.repository, line.action, line.artifact_id, line.detail, line.actor, line.occurred_at],
        [repository, 'asset.restore', file(0), path, `account:${catalog.writer.id}`, restored.createdAt],
      )
    })

    it('is 409 when repeated, and changes nothing then', async () => {
      const path = await shown(file(0), file(1))
      const json = { path, sourceRevision: 1, expectedRevision: 2 }
      await answered(restore(json))
      const { items } = await answered(ask('asset/history', { path }))
      await answered(restore(json), 409, 'revision_mismatch')
      assert.deepEqual((await answered(ask('asset/history', { path }))).items, items)
    })

    it('may bring back the current revision, and one that was brought back itself', async () => {
      const path = await shown(file(0), file(1))
      await answered(restore({ path, sourceRevision: 2, expectedRevision: 2 }))
      await answered(restore({ path, sourceRevision: 1, expectedRevision: 3 }))
      const last = await answered(restore({ path, sourceRevision: 4, expectedRevision: 4 }))
      assert.deepEqual([last.revision, last.artifactId, last.sourceRevision], [5, file(0), 4])
    })

    it('is 404 for a path or a revision that never was', async () => {
      const path = await shown(file(0))
      for (const sourceRevision of [2, revisionMax])
        await answered(restore({ path, sourceRevision, expectedRevision: 1 }), 404, 'not_found')
      await answered(restore({ path: freshPath(), sourceRevision: 1, expectedRevision: 1 }), 404, 'not_found')
    })

    it('lets one of many win, whether they restore or replace', async () => {
      const path = await shown(file(0), file(1))
      for (let current = 2; current < 6; current++) {
        const told = await Promise.all(
          Array.from({ length: 12 }, (_, index) =>
            index % 2 === 0
              ? restore({ path, sourceRevision: 1 + (index % current), expectedRevision: current })
              : put(path, file(index % 3), current),
          ),
        )
        assert.deepEqual(told.map(({ status }) => status).sort(), [200, ...Array.from({ length: 11 }, () => 409)])
      }
      const { items } = await answered(ask('asset/history', { path }))
      assert.deepEqual(
        items.map(({ revision }: Revision) => revision),
        [6, 5, 4, 3, 2, 1],
      )
      for (const { sourceRevision, artifactId } of items)
        if (sourceRevision !== null)
          assert.equal(items.find(({ revision }: Revision) => revision === sourceRevision)?.artifactId, artifactId)
    })

    it('reaches the last revision and none after it', async () => {
      const path = await shown(file(0))
      await inDatabase(catalog.service, async (q) => {
        for (const table of ['assets', 'asset_revisions'] as const)
          await q.updateTable(table).set({ revision: expectedRevisionMax }).where('path', '=', path).execute()
      })
      const json = { path, sourceRevision: expectedRevisionMax, expectedRevision: expectedRevisionMax }
      assert.equal((await answered(restore(json))).revision, revisionMax)
      await answered(restore(json), 409, 'revision_mismatch')
      await pointsAt(restore({ ...json, expectedRevision: revisionMax }), '/expectedRevision')
      // Nobody came there by two thousand million changes, which the doctor would say.
      await inDatabase(catalog.service, async (q) => {
        for (const table of ['assets', 'asset_revisions'] as const)
          await q.deleteFrom(table).where('path', '=', path).execute()
        await refreshEntry(q, file(0))
      })
    })

    it('points at each field that is wrong', async () => {
      const good = { path: await shown(file(0)), sourceRevision: 1, expectedRevision: 1 }
      for (const path of ['', '..', 'a//b', 'a:b', 'a\\b', '\u0085', 'x'.repeat(1025), 1, null])
        await pointsAt(restore({ ...good, path }), '/path')
      for (const wrong of [0, -1, 0.5, '1', null, revisionMax + 1]) {
        await pointsAt(restore({ ...good, sourceRevision: wrong }), '/sourceRevision')
        await pointsAt(restore({ ...good, expectedRevision: wrong }), '/expectedRevision')
      }
      for (const field of Object.keys(good)) assert.equal((await restore({ ...good, [field]: undefined })).status, 400)
      assert.equal((await restore({ ...good, more: 1 })).status, 400)
    })

    it('needs all three of its actions, and is nowhere for who sees nothing', async () => {
      const path = await shown(file(0))
      const json = { path, sourceRevision: 1, expectedRevision: 1 }
      const needed = ['asset.restore', 'asset.read', 'artifact.read'] as const
      for (const missing of needed) {
        const bindings = [binding(repository, ...needed.filter((action) => action !== missing))]
        const account = await createServiceAccount(catalog.service, bindings)
        const key = await activeKey(catalog.service, account.id, { bindings })
        await answered(restore(json, key.secret), 403, 'permission_missing')
      }
      await answered(restore(json, catalog.reader.token), 403, 'permission_missing')
      const stranger = await createPerson(catalog.service, `stranger-${randomUUID().slice(0, 8)}`)
      await answered(restore(json, stranger.token), 404, 'not_found')
      await answered(ask('asset/history', { path }, stranger.token), 404, 'not_found')
      const bindings = [binding(repository, ...needed)]
      const key = await activeKey(catalog.service, (await createServiceAccount(catalog.service, bindings)).id, {
        bindings,
      })
      const restored = await answered(restore(json, key.secret))
      assert.match(restored.actor, /^service-account:/)
    })
  })

  describe('the audit', () => {
    const audit = (after?: string, credential = catalog.reader.token): Promise<Told> =>
      catalog.service.ask({ path: `${base}/audit${after === undefined ? '' : `?after=${after}`}`, credential })

    it('tells each change once, oldest first, with its actor and no more', async () => {
      const last = (await answered(audit())).items.at(-1)?.sequence ?? '0'
      const all = async (): Promise<Told['json'][]> => {
        const found: Told['json'][] = []
        for (let from = last; ; ) {
          const { items } = await answered(audit(from))
          if (items.length === 0) return found
          found.push(...items)
          from = items.at(-1).sequence
        }
      }
      const id = await publish(catalog.service, catalog.writer.token, repository, newFile('audited', 'audited'))
      const path = freshPath()
      await answered(put(path, id, 0))
      await answered(restore({ path, sourceRevision: 1, expectedRevision: 1 }))
      const found = (await all()).slice(-3)
      assert.deepEqual(
        found.map(({ actor, action, artifactId }) => [actor, action, artifactId]),
        ['artifact.publish', 'asset.replace', 'asset.restore'].map((action) => [
          `account:${catalog.writer.id}`,
          action,
          id,
        ]),
      )
      for (const entry of found)
        assert.deepEqual(Object.keys(entry).sort(), [
          'action',
          'actor',
          'actorName',
          'artifactId',
          'artifactName',
          'detail',
          'occurredAt',
          'sequence',
        ])
    })

    it('comes 100 at a time, and is empty beyond the last entry', async () => {
      await inDatabase(catalog.service, async (q) => {
        const { journal_head: head } = await q
          .updateTable('repositories')
          .set((eb) => ({ journal_head: eb('journal_head', '+', 250) }))
          .where('id', '=', repository)
          .returning('journal_head')
          .executeTakeFirstOrThrow()
        const rows = Array.from({ length: 250 }, (_, index) => ({
          repository,
          sequence: head - 249 + index,
          action: 'artifact.restore' as const,
          artifact_id: file(0),
          detail: null,
          actor: 'account:someone',
          occurred_at: new Date(catalog.service.clock.now()).toISOString(),
        }))
        await q.insertInto('journal').values(rows).execute()
      })
      const sequences: number[] = []
      for (let from: string | undefined; ; from = String(sequences.at(-1))) {
        const { items } = await answered(audit(from))
        if (items.length === 0) break
        sequences.push(...items.map(({ sequence }: { sequence: string }) => Number(sequence)))
        assert.ok(items.length <= 100)
      }
      assert.deepEqual(
        sequences,
        sequences.map((_, index) => index + 1),
      )
      assert.ok(sequences.length > 250)
      assert.deepEqual((await answered(audit('0'))).items, (await answered(audit())).items)
      assert.deepEqual((await answered(audit('999999999999999'))).items, [])
    })

    it('takes only decimal digits, and shows nothing to who may not see the repository', async () => {
      for (const wrong of ['', 'x', '-1', '01', '1.5', '1e3', '%20', '9'.repeat(16), '9'.repeat(40)])
        await pointsAt(audit(wrong), '/query/after')
      const stranger = await createPerson(catalog.service, `stranger-${randomUUID().slice(0, 8)}`)
      await answered(audit('0', stranger.token), 404, 'not_found')
      const bindings = [binding(repository, 'repository.read', 'artifact.list')]
      const key = await activeKey(catalog.service, (await createServiceAccount(catalog.service, bindings)).id, {
        bindings,
      })
      await answered(audit('0', key.secret), 403, 'permission_missing')
    })
  })
})
