import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { Catalog } from '../harness/catalog.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { fileOfParts, openSession, sendParts } from '../harness/parts.ts'
import { createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile } from '../harness/publishing.ts'

after(closeConnections)

forEachEngine((engine) => {
  let catalog: Catalog
  let other: Person
  let group = ''
  before(async () => {
    catalog = await Catalog.open(engine)
    other = await createPerson(catalog.service, 'other')
    await createRepository(catalog.service, 'two')
    for (const repository of ['one', 'two']) await grant(catalog.service, other, repository, 'write')
    group = await grant(catalog.service, catalog.writer, 'two', 'write')
  })
  after(() => catalog.close())

  const own = async (
    what: string,
    credential: string,
  ): Promise<{ items: Record<string, unknown>[]; next: string | null }> =>
    (await expectAnswer(catalog.service, { path: `/api/v1/${what}`, credential }, 200)).json
  const session = async (person: Person, repository: string, file = newFile('small', 'small')): Promise<string> =>
    openSession(catalog.service, person.token, repository, file)
  const idOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

  it('open sessions are listed to who opened them, in all repositories, with how much is stored', async () => {
    const inParts = fileOfParts('in parts', 1)
    const begun = await session(catalog.writer, 'one', inParts)
    await sendParts(catalog.service, catalog.writer.token, begun, inParts, [0])
    const small = await session(catalog.writer, 'two')
    const theirs = await session(other, 'one')
    const cancelled = await session(catalog.writer, 'one')
    await expectAnswer(catalog.service, { method: 'DELETE', path: cancelled, credential: catalog.writer.token }, 200)
    const { items, next } = await own('uploads/own', catalog.writer.token)
    assert.deepEqual(
      items.map(({ id, repository, status }) => [id, repository, status]),
      [
        [idOf(begun), 'one', 'pending'],
        [idOf(small), 'two', 'pending'],
      ],
    )
    assert.equal(next, null)
    assert.ok(Number(items[0]?.['storedBytes']) > 0)
    assert.equal(items[1]?.['storedBytes'], '0')
    const [one] = (await own('uploads/own', other.token)).items
    assert.equal(one?.['id'], idOf(theirs))
    assert.deepEqual((await own('uploads/own', catalog.reader.token)).items, [])
    const newest = await own('uploads/own?order=desc&limit=1', catalog.writer.token)
    assert.equal(newest.items[0]?.['id'], idOf(small))
    const before = await own(`uploads/own?order=desc&limit=1&after=${newest.next}`, catalog.writer.token)
    assert.deepEqual([before.items[0]?.['id'], before.next], [idOf(begun), null])
    const mixed = { path: `/api/v1/uploads/own?after=${newest.next}`, credential: catalog.writer.token }
    await expectAnswer(catalog.service, mixed, 400, 'invalid_request')
  })

  it('so are completion jobs, whatever became of them', async () => {
    const jobs: string[] = []
    for (const repository of ['one', 'two']) {
      const file = fileOfParts(`job in ${repository}`, 1)
      const upload = await session(catalog.writer, repository, file)
      await sendParts(catalog.service, catalog.writer.token, upload, file)
      const asked = { method: 'POST', path: `${upload}/complete-async`, credential: catalog.writer.token }
      jobs.push((await expectAnswer(catalog.service, asked, 202)).json.id)
    }
    const listed = async (query = ''): Promise<unknown[]> =>
      (await own(`jobs${query}`, catalog.writer.token)).items.map(({ id }) => id)
    assert.deepEqual(await listed(), jobs)
    assert.deepEqual(await listed('?order=desc'), jobs.toReversed())
    assert.deepEqual((await own('jobs', other.token)).items, [])
    const [first] = (await own('jobs', catalog.writer.token)).items
    const one = { path: `/api/v1/jobs/${jobs[0]}`, credential: catalog.writer.token }
    assert.deepEqual(first, (await expectAnswer(catalog.service, one, 200)).json)
  })

  it('what lies in a repository that one may write to no more is not told, and pages go on behind it', async () => {
    const before = [await own('uploads/own', catalog.writer.token), await own('jobs', catalog.writer.token)]
    assert.ok(before.every(({ items }) => items.some(({ repository }) => repository === 'two')))
    const path = `/api/v1/access-groups/${group}`
    await expectAnswer(catalog.service, { method: 'DELETE', path, credential: catalog.service.recoveryKey }, 204)
    for (const what of ['uploads/own', 'jobs']) {
      const all: unknown[] = []
      for (let cursor = ''; ; ) {
        const { items, next } = await own(`${what}?limit=1${cursor}`, catalog.writer.token)
        all.push(...items.map(({ repository }) => repository))
        if (next === null) break
        cursor = `&after=${next}`
      }
      assert.ok(all.length > 0 && all.every((repository) => repository === 'one'), `${what}: ${all}`)
    }
  })
})
