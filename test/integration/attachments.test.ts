import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import { attachmentHistoryPage, attachmentRevisionsForgotten } from '../../src/kernel/limits/catalog.ts'
import { deletedArtifactsKeptMs } from '../../src/kernel/limits/lifecycle.ts'
import { hour } from '../../src/kernel/units.ts'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

interface Item {
  readonly name: string
  readonly kind: string
  readonly artifactId: string
  readonly description?: string
}

forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.inspection.inOrder())
  after(() => catalog.close())
  afterEach(() => catalog.inspection.sums())

  const put = (id: string, expectedRevision: number, items: unknown, credential?: string): Promise<Told> =>
    catalog.ask({
      method: 'PUT',
      path: `/artifacts/${id}/attachments`,
      json: { expectedRevision, items },
      ...(credential === undefined ? {} : { credential }),
    })
  const attached = async (id: string, expectedRevision: number, items: readonly Item[]): Promise<Told['json']> => {
    const told = await put(id, expectedRevision, items)
    assert.equal(told.status, 200, told.text)
    assert.equal(told.json.revision, expectedRevision + 1)
    return told.json
  }
  const item = (artifactId: string, name = 'sbom.json'): Item => ({ name, kind: 'sbom', artifactId })
  const rowsOf = (id: string): Promise<number> =>
    inDatabase(catalog.service, async (q) => {
      const rows = await q.selectFrom('attachments').select('name').where('artifact_id', '=', id).execute()
      const revisions = await q.selectFrom('attachment_revisions').select('revision').where('artifact_id', '=', id)
      return rows.length + (await revisions.execute()).length
    })

  describe('attachments', () => {
    it('are none at first, and then what was put there, in its order', async () => {
      const [build, first, second] = [await catalog.published(), await catalog.published(), await catalog.published()]
      const path = `/artifacts/${build}/attachments`
      assert.deepEqual(await catalog.get(path), { revision: 0, items: [], actor: null, createdAt: null })
      assert.deepEqual(await catalog.get(`${path}/history`), { items: [], next: null })
      const items = [
        { name: 'Zusammenfassung ✓', kind: 'report', artifactId: second, description: 'tests passed' },
        { name: 'a', kind: 'manifest', artifactId: first, description: '' },
        { name: 'b', kind: 'signature', artifactId: first, description: 'the same file twice' },
      ]
      const told = await attached(build, 0, items)
      assert.deepEqual(told, {
        revision: 1,
        items,
        actor: `account:${catalog.writer.id}`,
        createdAt: told.createdAt,
      })
      assert.deepEqual(await catalog.get(path), told)
      const short = await attached(build, 1, [{ name: 'x', kind: 'file', artifactId: first }])
      assert.deepEqual(short.items, [{ name: 'x', kind: 'file', artifactId: first, description: '' }])
      const none = await attached(build, 2, [])
      assert.deepEqual([none.revision, none.items], [3, []])
      assert.deepEqual(await catalog.get(path), none)
      const actorName = catalog.writer.name
      assert.deepEqual(
        (await catalog.get(`${path}/history`)).items,
        [none, short, told].map((each) => ({ ...each, actorName })),
      )
      const journal = (await catalog.journal(build)).map(({ action, detail }) => [action, detail])
      assert.deepEqual(journal.slice(1), new Array(3).fill(['attachment.replace', null]))
    })

    it('are compared and swapped: of many at once one wins, and the others are told where it stands', async () => {
      const [build, target] = [await catalog.published(), await catalog.published()]
      for (let revision = 0; revision < 4; revision++) {
        const told = await Promise.all(
          Array.from({ length: 6 }, (_, n) => put(build, revision, [item(target, `writer ${n}`)])),
        )
        const won = told.filter(({ status }) => status === 200)
        assert.equal(won.length, 1)
        for (const { status, json } of told.filter((each) => each.status !== 200)) {
          assert.deepEqual([status, json.code], [409, 'revision_mismatch'])
          assert.match(json.detail, new RegExp(`at revision ${revision + 1};`))
        }
        assert.deepEqual(await catalog.get(`/artifacts/${build}/attachments`), won[0]?.json)
      }
      assert.equal((await put(build, 9, [])).status, 409)
    })

    it('must be other published files of the repository, under names of their own', async () => {
      const [build, target, gone] = [await catalog.published(), await catalog.published(), await catalog.published()]
      await catalog.remove(gone)
      const elsewhere = await publish(
        catalog.service,
        catalog.service.recoveryKey,
        'releases',
        newFile('x', 'elsewhere'),
      )
      const good = item(target, 'good')
      const wrong: [unknown[], string][] = [
        [[good, item(build, 'itself')], '/items/1/artifactId'],
        [[item(gone)], '/items/0/artifactId'],
        [[item(elsewhere)], '/items/0/artifactId'],
        [[item(randomUUID())], '/items/0/artifactId'],
        [[item('x')], '/items/0/artifactId'],
        [[good, item(target, 'other'), item(target, 'GOOD')], '/items/2/name'],
        ...[
          ['Ä', 'a\u0308'],
          ['ΟΔΟΣ', 'οδος'],
          ['οδος', 'οδοσ'],
          ['straße', 'STRASSE'],
          ['\u212a.txt', 'k.txt'],
          ['İ', 'i\u0307'],
        ].map((names): [unknown[], string] => [names.map((name) => item(target, name)), '/items/1/name']),
        [[item(target, '')], '/items/0/name'],
        [[item(target, 'x'.repeat(241))], '/items/0/name'],
        [[item(target, 'a\nb')], '/items/0/name'],
        [[{ ...good, kind: 'picture' }], '/items/0/kind'],
        [[{ ...good, description: 'x'.repeat(513) }], '/items/0/description'],
        [[{ ...good, description: null }], '/items/0/description'],
        [[{ ...good, size: '1' }], '/items/0/size'],
        [Array.from({ length: 33 }, (_, n) => item(target, `${n}`)), '/items'],
      ]
      for (const [items, pointer] of wrong) {
        const told = await put(build, 0, items)
        assert.deepEqual([told.status, told.json.details?.[0]?.pointer], [400, pointer], told.text)
      }
      for (const revision of [-1, 2_147_483_647, 0.5, '0'])
        assert.equal((await put(build, revision as number, [])).status, 400)
      const largest = Array.from({ length: 32 }, (_, n) => ({
        ...item(target, `${n}`.padEnd(2, 'x') + '😀'.repeat(238)),
        description: '😀'.repeat(512),
      }))
      assert.deepEqual((await attached(build, 0, largest)).items, largest)
      assert.equal((await put(build, 0, [item(gone)])).json.code, 'revision_mismatch', 'the revision comes first')
      assert.equal((await put(build, 1, [], catalog.reader.token)).status, 403)
      for (const missing of [randomUUID(), gone]) {
        assert.equal((await put(missing, 0, [])).status, 404)
        for (const end of ['', '/history'])
          assert.equal((await catalog.ask({ path: `/artifacts/${missing}/attachments${end}` })).status, 404)
      }
    })

    it('have a history, twenty revisions a page', async () => {
      const [build, target] = [await catalog.published(), await catalog.published()]
      const told: object[] = []
      const count = 2 * attachmentHistoryPage + 1
      for (let n = 0; n < count; n++) told.unshift(await attached(build, n, n % 3 === 0 ? [] : [item(target, `${n}`)]))
      const path = `/artifacts/${build}/attachments/history`
      const read: unknown[] = []
      let query = ''
      const sizes: number[] = []
      for (;;) {
        const page = await catalog.get(path + query)
        read.push(...page.items)
        sizes.push(page.items.length)
        if (page.next === null) break
        query = `?before=${page.next}`
      }
      assert.deepEqual(sizes, [20, 20, 1])
      const named = told.map((each) => ({ ...each, actorName: catalog.writer.name }))
      assert.deepEqual(read, named)
      assert.deepEqual(await catalog.get(`${path}?before=1`), { items: [], next: null })
      assert.equal((await catalog.get(`${path}?before=21`)).next, null)
      for (const before of ['0', '-1', '2147483648', 'x', ''])
        assert.equal((await catalog.ask({ path: `${path}?before=${before}` })).status, 400, before)
    })
  })

  describe('a file that is or was attached', () => {
    it('stays while the build does, and may go once the build is gone', async () => {
      const [build, target] = [await catalog.published(), await catalog.published()]
      await attached(build, 0, [item(target)])
      assert.deepEqual(await catalog.blockers(target), ['attachment_history'])
      await attached(build, 1, [])
      assert.deepEqual(await catalog.blockers(target), ['attachment_history'], 'its history shows it')
      assert.deepEqual((await catalog.remove(target)).json.blockers, ['attachment_history'])
      assert.deepEqual(await catalog.blockers(build), [], 'what is attached does not keep the build')
      assert.equal((await catalog.remove(build)).json.outcome, 'deleted')
      assert.deepEqual(await catalog.blockers(target), [])
      assert.equal((await catalog.restore(build)).status, 200)
      assert.deepEqual(await catalog.blockers(target), ['attachment_history'], 'it came back, and so did its history')
      await catalog.remove(build)
      assert.equal((await catalog.remove(target)).json.outcome, 'deleted')
    })

    it('may be gone when the build comes back, which is as it was all the same', async () => {
      const [build, target] = [await catalog.published(), await catalog.published()]
      const before = await attached(build, 0, [item(target)])
      await catalog.remove(build)
      await catalog.remove(target)
      await catalog.restore(build)
      assert.deepEqual(await catalog.get(`/artifacts/${build}/attachments`), before)
      assert.equal((await put(build, 1, [item(target)])).status, 400, 'it cannot be put there anew')
      assert.equal((await catalog.restore(target)).status, 200)
      assert.deepEqual(await catalog.blockers(target), ['attachment_history'])
    })

    it('is attached or deleted, whichever comes first', async () => {
      for (let round = 0; round < 10; round++) {
        const [build, target] = [await catalog.published(), await catalog.published()]
        const [told, removed] = await Promise.all([put(build, 0, [item(target)]), catalog.remove(target)])
        assert.deepEqual(
          [told.status, removed.json.outcome],
          told.status === 200 ? [200, 'protected'] : [400, 'deleted'],
          removed.text,
        )
      }
    })
  })

  it('the last trace of a deleted build takes its attachments along, however many revisions there were', async () => {
    const [build, target, other] = [await catalog.published(), await catalog.published(), await catalog.published()]
    await attached(other, 0, [item(target)])
    await attached(build, 0, [item(target)])
    const revisions = Array.from({ length: attachmentRevisionsForgotten + 5 }, (_, n) => n + 2)
    await inDatabase(catalog.service, async (q) => {
      const created_at = '2026-01-01T00:00:00.000Z'
      const rows = revisions.map((revision) => ({ artifact_id: build, revision, actor: 'account:x', created_at }))
      await q.insertInto('attachment_revisions').values(rows).execute()
    })
    await catalog.remove(build)
    catalog.service.clock.advance(25 * hour)
    await catalog.inspection.upkeep()
    assert.equal(await rowsOf(build), revisions.length + 2)
    catalog.service.clock.advance(deletedArtifactsKeptMs + 1_000)
    await catalog.inspection.upkeep()
    assert.equal(await rowsOf(build), 0)
    assert.equal(await rowsOf(other), 2)
  })

  it('a repository that is deleted leaves no attachments behind', async () => {
    const own = await Catalog.open(engine)
    try {
      const [build, target] = [await own.published(), await own.published()]
      const json = { expectedRevision: 0, items: [item(target)] }
      await own.expect({ method: 'PUT', path: `/artifacts/${build}/attachments`, json }, 200)
      for (const id of [build, target]) assert.equal((await own.remove(id)).json.outcome, 'deleted')
      own.service.clock.advance(25 * hour)
      await own.inspection.upkeep()
      await own.expect({ method: 'DELETE', path: '', credential: own.service.recoveryKey }, 204)
      await own.inspection.inOrder()
    } finally {
      await own.close()
    }
  })

  it('the doctor finds attachments that belong to nothing, and clears them away', async () => {
    const [lost, target] = [randomUUID(), randomUUID()]
    await inDatabase(catalog.service, async (q) => {
      const key = { artifact_id: lost, revision: 1 }
      await q
        .insertInto('attachment_revisions')
        .values({ ...key, actor: 'account:x', created_at: '2026-01-01T00:00:00.000Z' })
        .execute()
      const rest = { position: 0, name: 'x', kind: 'file', target_id: target, description: '' } as const
      await q
        .insertInto('attachments')
        .values({ ...key, ...rest })
        .execute()
    })
    const text = `there are attachments of ${lost}, of which nothing else is known`
    assert.deepEqual((await catalog.inspection.findings()).damage, [text])
    assert.deepEqual(await catalog.inspection.mend(), [text])
    assert.equal(await rowsOf(lost), 0)
  })
})
