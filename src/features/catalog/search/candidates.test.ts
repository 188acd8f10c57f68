import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import { plansOf } from '../../../../test/harness/query-plans.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { foldCase } from '../../../kernel/fold-case.ts'
import { newId } from '../../../kernel/ids.ts'
import { searchSteps } from '../../../kernel/limits/search.ts'
import { orders, type Start } from '../../../kernel/order.ts'
import { noFilters, pathsText, type SearchFilters } from '../../../kernel/search-text.ts'
import { candidates, type Steps } from './candidates.ts'
import { describedAfter } from './entries.queries.ts'
import { putEntry } from './entries.ts'
import { firstByIndex, onlyByIndex, someByIndex, walk } from './postgres.queries.ts'
import { sqliteStep } from './sqlite.queries.ts'
import { wantedOf } from './wanted.ts'

const repository = 'releases'
const files = 1_200

/**
 * Everything is at the end but what every second file has, and parts of "scattered parts" are where the whole is not.
 */
const nameOf = (index: number): string => {
  const words = [`file ${index}`]
  if (index % 2 === 0) words.push('every second')
  if (index % 97 === 0) words.push('seldom')
  if (index >= 900) words.push('late in the day')
  words.push(index % 3 === 0 ? 'scattered' : 'parts red p d pa')
  if (index === 777) words.push('scattered parts')
  return words.join(', ')
}

/** Every seventh file has many paths, every second none. */
const pathsOf = (index: number): string[] =>
  Array.from({ length: index % 7 === 0 ? 40 : index % 2 }, (_, n) => `Folder ${index % 30}/${n}/file`)

forEachEngine((engine) => {
  let database: Database
  const stored: { id: string; name: string; label: string; paths: string[] }[] = []
  before(async () => {
    database = await openDatabase({ url: await engine.readyDatabaseUrl(), report: () => {} })
    await migrate(database, migrations)
    await database.transaction(async (tx) => {
      await tx
        .insertInto('blobs')
        .values({ sha256: 'x', size: 1, state: 'stored', stored_at: null, generation: '' })
        .execute()
      for (let index = 0; index < files; index++) {
        const id = newId(Date.now())
        const [name, label] = [nameOf(index), index % 5 === 0 ? 'fifth' : 'other']
        stored.push({ id, name, label, paths: pathsOf(index) })
        const times = { created_at: 'x', expires_at: 'x', published_at: 'x' }
        const described = { labels: JSON.stringify([label]), metadata: '{}' }
        await tx
          .insertInto('artifacts')
          .values({ id, repository, name, size: 1, sha256: 'x', ...described, ...times })
          .execute()
        const paths = pathsText(pathsOf(index))
        await putEntry(tx, { id, repository, name, labels: [label], metadata: {}, collections: [], sha256: 'x', paths })
      }
    })
    // As the server does by itself from time to time.
    if (engine.name === 'postgres') await database.transaction((tx) => sql`analyze`.execute(tx))
  })
  after(() => database[Symbol.asyncDispose]())

  const found = async (filters: SearchFilters, start: Start, steps: Steps): Promise<string[]> => {
    const ids: string[] = []
    for await (const some of candidates(database, repository, filters, start, steps)) ids.push(...some)
    return ids
  }

  describe('candidates', () => {
    // Each way to the same answer: walking alone, the index with little to sort, the index with much.
    const ways = {
      'long steps': searchSteps,
      'short steps': { ...searchSteps, rowsFirst: 3, rowsMax: 7 },
      'little walking': { ...searchSteps, rowsFirst: 2, rowsMax: 8, walkRowsMax: 16, walkRowsPerHit: 4 },
      'much to sort': { rowsFirst: 2, rowsMax: 8, walkRowsMax: 16, walkRowsPerHit: 4, indexRowsMax: 5 },
    }
    for (const [way, steps] of Object.entries(ways))
      it(`are all files that match, in order, each once, by ${way}`, async () => {
        const needles = [
          '',
          'e',
          'zz',
          'EVERY',
          'seldom',
          'late in',
          'scattered parts',
          'file 77',
          'absent',
          'file 777, parts',
        ]
        for (const order of orders)
          for (const q of needles)
            for (const label of [undefined, 'fifth', 'none'])
              for (const after of ['', stored[450]?.id ?? '', stored.at(order === 'asc' ? -1 : 0)?.id ?? '']) {
                const beyond = (id: string): boolean => after === '' || (order === 'asc' ? id > after : id < after)
                const expected = stored.filter(
                  (file) =>
                    beyond(file.id) &&
                    foldCase(file.name).includes(foldCase(q)) &&
                    (label === undefined || file.label === label),
                )
                const ids = await found({ ...noFilters, q, label }, { order, after }, steps)
                const all = expected.map(({ id }) => id)
                assert.deepEqual(ids, order === 'asc' ? all : all.reverse(), `${order} ${q} ${label} ${after}`)
              }
      })
    for (const [way, steps] of Object.entries(ways))
      it(`have a path with the part that is asked for, or too many paths to say, by ${way}`, async () => {
        for (const order of orders)
          for (const path of ['FOLDER 2', 'r 29/0', 'f', 'nowhere'])
            for (const q of [undefined, 'seldom']) {
              const expected = stored.filter(
                ({ name, paths }) =>
                  name.includes(q ?? '') &&
                  (paths.length > 32 || paths.some((each) => foldCase(each).includes(foldCase(path)))),
              )
              const ids = await found({ ...noFilters, q, path }, { order, after: '' }, steps)
              const all = expected.map(({ id }) => id)
              assert.deepEqual(ids, order === 'asc' ? all : all.reverse(), `${order} ${q} ${path}`)
            }
      })
  })

  describe('the plan', () => {
    const filters = { ...noFilters, q: 'seldom', label: 'fifth' }
    const wanted = wantedOf(repository, filters, 'asc')
    const backwards = wantedOf(repository, { ...filters, path: 'folder 2' }, 'desc')
    const someId = (): string => stored[450]?.id ?? ''

    it('of a page of files as they are described takes the page before it asks what is said of them', async () => {
      const last = stored.at(-200)?.id ?? ''
      for (const plan of await plansOf(database.reader, (q) => describedAfter(q, last, 20))) {
        // The tables here are so small that PostgreSQL may read them whole; what matters is that the limit comes first.
        if (engine.name === 'postgres') assert.match(plan, /Left Join.*\n(?:.*\n)*.*-> {2}Limit/, plan)
        else assert.doesNotMatch(plan, /SCAN (?!shown)/, plan)
      }
    })
    if (engine.name === 'sqlite')
      for (const [way, each] of Object.entries({ forwards: wanted, backwards }))
        it(`of a step goes through the index in its order, and from there to the entries, ${way}`, async () => {
          const step = { from: 0, after: someId(), limit: 256 }
          const [plan = ''] = await plansOf(database.reader, (q) => sqliteStep(q, each, step))
          assert.match(plan, /SCAN search_index VIRTUAL TABLE INDEX \d+:M\d*[<>]/, plan)
          assert.match(plan, /SEARCH e USING INDEX search_entries_by_position \(position=\?\)/, plan)
          assert.doesNotMatch(plan, /SCAN e\b|TEMP B-TREE FOR (?:ORDER BY|LAST TERM OF ORDER BY) f/, plan)
        })
    else {
      for (const [way, each] of Object.entries({ forwards: wanted, backwards }))
        it(`of walking goes along the entries of the repository and stops, ${way}`, async () => {
          const bounds = { rows: 64, limit: 10 }
          const [plan = ''] = await plansOf(database.reader, (q) => walk(q, each, someId(), bounds))
          assert.match(plan, /Limit.*\n.*Index Scan (?:Backward )?using search_entries_by_repository/, plan)
          // Where reading begins; the pair beside the equation of its first column is only compared.
          assert.match(plan, /Index Cond: .*repository = '.*artifact_id [<>] '/, plan)
          assert.doesNotMatch(plan, /Seq Scan/, plan)
        })
      it('of asking the index goes by its tokens, although nobody told the planner about them', async () => {
        const plans = await database.snapshot(async (q) => {
          await onlyByIndex(q)
          return plansOf(q, async (explained) => {
            for (const each of [wanted, backwards]) {
              await someByIndex(explained, each, someId(), 10)
              await firstByIndex(explained, each, someId(), 10)
            }
          })
        })
        assert.equal(plans.length, 4)
        for (const plan of plans) {
          assert.match(plan, /Bitmap Index Scan on search_entries_by_token/, plan)
          assert.doesNotMatch(plan, /Seq Scan/, plan)
        }
      })
    }
  })
})
