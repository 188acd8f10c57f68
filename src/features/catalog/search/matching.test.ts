import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { forEachEngine } from '../../../../test/harness/engines.ts'
import type { Database } from '../../../database/database.ts'
import { migrate } from '../../../database/migrate.ts'
import { migrations } from '../../../database/migrations/index.ts'
import { openDatabase } from '../../../database/open.ts'
import { newId } from '../../../kernel/ids.ts'
import { searchCharactersPerRound, searchPathsLookedAt } from '../../../kernel/limits/search.ts'
import { noFilters, pathsText, type SearchFilters } from '../../../kernel/search-text.ts'
import { putEntry } from './entries.ts'
import { hitsIn } from './search.ts'

const repository = 'releases'
/** What folds at greatest length: two characters for one. */
const long = 'İ'.repeat(1_000)

forEachEngine((engine) => {
  let database: Database
  before(async () => {
    database = await openDatabase({ url: await engine.readyDatabaseUrl(), report: () => {} })
    await migrate(database, migrations)
    await database.transaction((tx) =>
      tx
        .insertInto('blobs')
        .values({ sha256: 'x', size: 1, state: 'stored', stored_at: null, generation: '' })
        .execute(),
    )
  })
  after(() => database[Symbol.asyncDispose]())

  const publish = (
    label: string,
    metadata: Readonly<Record<string, string>>,
    paths: readonly string[] = [],
  ): Promise<void> =>
    database.transaction(async (tx) => {
      const id = newId(Date.now())
      const [name, sha256] = ['file', 'x']
      const times = { created_at: 'x', expires_at: 'x', published_at: 'x' }
      const described = { labels: JSON.stringify([label]), metadata: JSON.stringify(metadata) }
      await tx
        .insertInto('artifacts')
        .values({ id, repository, name, size: 1, sha256, ...described, ...times })
        .execute()
      for (const path of paths)
        await tx.insertInto('assets').values({ repository, path, revision: 1, artifact_id: id }).execute()
      const file = { id, repository, name, labels: [label], metadata, collections: [], sha256, paths: pathsText(paths) }
      await putEntry(tx, file)
    })

  const found = async (label: string, filters: Partial<SearchFilters>, limit: number): Promise<number> => {
    const question = { filters: { ...noFilters, label, ...filters }, withPaths: false }
    return (await hitsIn(database, repository, question, { order: 'asc', after: '' }, limit)).length
  }

  describe('looking at what may match', () => {
    it('folds what is looked for, and nothing that files are described with', async (t) => {
      const described = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`key${n}`, long]))
      for (let n = 0; n < 5; n++) await publish('described', described)
      const folded = charactersFolded(t)
      assert.equal(await found('described', {}, 10), 5)
      assert.equal(await found('described', { q: 'İİ' }, 10), 5)
      assert.equal(await found('described', { metadata: { key: 'key7', value: long } }, 10), 5)
      assert.ok(folded() < 100, `${folded()} characters`)
    })

    it('lets the process go on with other work between some files and the next', async () => {
      for (let n = 0; n < 250; n++) await publish('many', {})
      const rounds = roundsOfLoop()
      assert.equal(await found('many', {}, 251), 250)
      assert.ok(rounds() >= 3)
    })

    it('lets the process go on with other work in the middle of many long paths', async () => {
      const paths = Array.from({ length: searchPathsLookedAt }, (_, n) => `${String(n).padStart(4, '0')}${long}`)
      await publish('paths', {}, paths)
      const rounds = roundsOfLoop()
      assert.equal(await found('paths', { path: 'nowhere' }, 10), 0)
      assert.ok(rounds() >= Math.floor((paths.length * long.length) / searchCharactersPerRound), `${rounds()} rounds`)
      assert.equal(await found('paths', { path: '0999i\u0307' }, 10), 1)
    })
  })
})

/** Counts how many rounds the loop of the process makes, from now until it is asked. */
const roundsOfLoop = (): (() => number) => {
  let rounds = 0
  const round = () => {
    rounds++
    next = setImmediate(round)
  }
  let next = setImmediate(round)
  return () => {
    clearImmediate(next)
    return rounds
  }
}

/** Counts the characters that lose their case, from now until it is asked. */
const charactersFolded = (t: TestContext): (() => number) => {
  let characters = 0
  const lower = String.prototype.toLowerCase
  const counted = t.mock.method(String.prototype, 'toLowerCase', function (this: string): string {
    characters += this.length
    return lower.call(this)
  })
  return () => {
    counted.mock.restore()
    return characters
  }
}
