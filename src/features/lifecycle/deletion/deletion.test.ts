import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, it } from 'node:test'
import { Catalog } from '../../../../test/harness/catalog.ts'
import { closeConnections } from '../../../../test/harness/client.ts'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { newFile, publish } from '../../../../test/harness/publishing.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { type Deletion, deleteEach } from './deletion.ts'
import { type Criteria, eligibilityOf } from './eligibility.ts'

after(closeConnections)

/** Deleting by rule: what the operations for one file cannot show. */
forEachEngine((engine) => {
  let catalog: Catalog
  before(async () => {
    catalog = await Catalog.open(engine)
  })
  after(() => catalog.close())

  const labelled = (...labels: string[]): Promise<string> =>
    publish(catalog.service, catalog.writer.token, catalog.repository, newFile('x', randomUUID(), { labels }))
  const soon = (): string => timestamp(catalog.service.clock.now() + 60_000)
  const run = (ids: string[], criteria: Criteria, annotationRevision = 0): Promise<Deletion[]> => {
    const { database, clock } = catalog.inspection
    const unwanted = ids.map((id) => ({ id, annotationRevision }))
    return database.transaction((tx) =>
      deleteEach({ clock, cleanupGraceMs: 0 }, tx, catalog.repository, { unwanted, criteria }, 'system:test'),
    )
  }
  const keep = (id: string) => catalog.expect({ path: `/artifacts/${id}/references`, json: { key: 'kept' } }, 204)

  it('tells of each file what becomes of it, in the order asked, and deletes just those that may go', async () => {
    const [plain, kept, marked, gone] = [
      await labelled(),
      await labelled('a'),
      await labelled('a', 'lts'),
      await labelled(),
    ]
    await keep(kept)
    await catalog.remove(gone)
    const unknown = randomUUID()
    const ids = [marked, unknown, plain, gone, kept, plain]
    const told = await run(ids, { publishedBefore: soon(), protectedLabels: ['lts', 'LTS'] })
    assert.deepEqual(
      told.map(({ id, outcome, blockers }) => [id, outcome, blockers]),
      [
        [marked, 'protected', ['protected_label']],
        [unknown, 'not_found', []],
        [plain, 'deleted', []],
        [gone, 'already_deleted', []],
        [kept, 'protected', ['reference']],
        [plain, 'already_deleted', []],
      ],
    )
    assert.deepEqual(
      (await catalog.get('/artifacts')).items.map(({ id }: { id: string }) => id),
      [kept, marked].sort(),
    )
    assert.deepEqual((await catalog.journal(plain)).at(-1)?.actor, 'system:test')
    await catalog.inspection.inOrder()
  })

  it('leaves what is too young and what was seen with other annotations, whatever else keeps it', async () => {
    const id = await labelled('lts')
    await keep(id)
    const published = (await catalog.expect({ path: `/artifacts/${id}/deletion`, credential: catalog.keeper }, 200))
      .json
    const criteria = { publishedBefore: published.publishedAt, protectedLabels: ['lts'] }
    assert.deepEqual((await run([id], criteria, 1))[0]?.outcome, 'not_eligible', 'before means before')
    const later = { ...criteria, publishedBefore: soon() }
    assert.deepEqual((await run([id], later, 1))[0]?.outcome, 'changed')
    assert.deepEqual((await run([id], later))[0]?.blockers, ['reference', 'protected_label'])
    assert.deepEqual((await catalog.remove(id)).json.blockers, ['reference'], 'a direct deletion asks for no labels')
  })

  it('knows nothing of the files of other repositories', async () => {
    const id = await labelled()
    const { reader } = catalog.inspection.database
    assert.equal((await eligibilityOf(reader, 'releases', [id], null)).size, 0)
    assert.equal((await eligibilityOf(reader, catalog.repository, [], null)).size, 0)
    assert.equal((await eligibilityOf(reader, catalog.repository, [id, id], null)).size, 1)
  })

  it('two who delete the same files in different order both end, and each file goes once', async () => {
    for (let round = 0; round < 4; round++) {
      const ids = await Promise.all(Array.from({ length: 6 }, () => labelled()))
      const criteria = { publishedBefore: soon(), protectedLabels: [] }
      const told = await Promise.all([run(ids, criteria), run(ids.toReversed(), criteria)])
      const outcomes = told.flat().map(({ outcome }) => outcome)
      assert.equal(outcomes.filter((outcome) => outcome === 'deleted').length, 6)
      assert.equal(outcomes.filter((outcome) => outcome === 'already_deleted').length, 6)
    }
    await catalog.inspection.inOrder()
  })
})
