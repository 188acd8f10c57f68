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
import { type SearchFilters, tokensOfFilters } from '../../../kernel/search-text.ts'
import { candidates, type Steps } from './candidates.ts'
import { describedAfter } from './entries.queries.ts'
import { putEntry } from './entries.ts'
import { firstByIndex, onlyByIndex, someByIndex, walk } from './postgres.queries.ts'
import { sqliteStep } from './sqlite.queries.ts'

const repository = 'releases'
const files = 1_200
const none: SearchFilters = { q: undefined, label: undefined, collection: undefined, metadata: undefined }

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

forEachEngine((engine) => {
  let database: Database
  const stored: { id: string; name: string; label: string }[] = []
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
        stored.push({ id, name, label })
        const times = { created_at: 'x', expires_at: 'x', published_at: 'x' }
        const described = { labels: JSON.stringify([label]), metadata: '{}' }
        await tx
          .insertInto('artifacts')
          .values({ id, repository, name, size: 1, sha256: 'x', ...described, ...times })
          .execute()
        await putEntry(tx, { id, repository, name, labels: [label], metadata: {}, collections: [] })
      }
    })
    // As the server does by itself from time to time.
    if (engine.name === 'postgres') await database.transaction((tx) => sql`analyze`.execute(tx))
  })
  after(() => database[Symbol.asyncDispose]())

  const found = async (filters: SearchFilters, after: string, steps: Steps): Promise<string[]> => {
    const ids: string[] = []
    for await (const some of candidates(database, repository, filters, after, steps)) ids.push(...some)
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
        for (const q of needles)
          for (const label of [undefined, 'fifth', 'none'])
            for (const after of ['', stored[450]?.id ?? '', stored.at(-1)?.id ?? '']) {
              const expected = stored.filter(
                (file) =>
                  file.id > after &&
                  foldCase(file.name).includes(foldCase(q)) &&
                  (label === undefined || file.label === label),
              )
              const ids = await found({ ...none, q, label }, after, steps)
              assert.deepEqual(
                ids,
                expected.map(({ id }) => id),
                `${q} ${label} ${after}`,
              )
            }
      })
  })

  describe('the plan', () => {
    const filters = { ...none, q: 'seldom', label: 'fifth' }
    const wanted = {
      repository,
      needle: 'seldom',
      tokens: tokensOfFilters(repository, filters),
      exactTokens: tokensOfFilters(repository, { ...filters, q: undefined }),
    }
    const someId = (): string => stored[450]?.id ?? ''

    it('of a page of files as they are described takes the page before it asks what is said of them', async () => {
      const last = stored.at(-200)?.id ?? ''
      for (const plan of await plansOf(database.reader, (q) => describedAfter(q, last, 20))) {
        // The tables here are so small that PostgreSQL may read them whole; what matters is that the limit comes first.
        if (engine.name === 'postgres') assert.match(plan, /Left Join.*\n(?:.*\n)*.*-> {2}Limit/, plan)
        else assert.doesNotMatch(plan, /SCAN/, plan)
      }
    })
    if (engine.name === 'sqlite')
      it('of a step goes through the index in its order, and from there to the entries', async () => {
        const step = { from: 0, after: someId(), needle: 'seldom', limit: 256 }
        const [plan = ''] = await plansOf(database.reader, (q) => sqliteStep(q, wanted.tokens, step))
        assert.match(plan, /SCAN search_index VIRTUAL TABLE INDEX \d+:M\d*>/, plan)
        assert.match(plan, /SEARCH e USING INDEX search_entries_by_position \(position=\?\)/, plan)
        assert.doesNotMatch(plan, /SCAN e\b/, plan)
      })
    else {
      it('of walking goes along the entries of the repository and stops', async () => {
        const bounds = { rows: 64, limit: 10 }
        const [plan = ''] = await plansOf(database.reader, (q) => walk(q, wanted, someId(), bounds))
        assert.match(plan, /Limit.*\n.*Index Scan using search_entries_by_repository/, plan)
        // Where reading begins; the pair beside the equation of its first column is only compared.
        assert.match(plan, /Index Cond: .*repository = '.*artifact_id > '/, plan)
        assert.doesNotMatch(plan, /Seq Scan/, plan)
      })
      it('of asking the index goes by its tokens, although nobody told the planner about them', async () => {
        const plans = await database.snapshot(async (q) => {
          await onlyByIndex(q)
          return plansOf(q, async (explained) => {
            await someByIndex(explained, wanted, someId(), 10)
            await firstByIndex(explained, wanted, someId(), 10)
          })
        })
        assert.equal(plans.length, 2)
        for (const plan of plans) {
          assert.match(plan, /Bitmap Index Scan on search_entries_by_token/, plan)
          assert.doesNotMatch(plan, /Seq Scan/, plan)
        }
      })
    }
  })
})
