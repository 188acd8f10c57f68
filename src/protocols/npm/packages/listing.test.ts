import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onSqlite } from '../../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../../test/harness/own-engines.ts'
import type { Queries } from '../../../database/database.ts'
import { npmSearchedAtOnce } from '../../../kernel/limits/npm.ts'
import { packagesOf } from './listing.ts'

const at = '2026-01-01T00:00:00.000Z'

onSqlite((engine) => {
  const withPackages = async (names: readonly string[]) => {
    const { database } = await openOwnEngines(engine)
    await database.transaction(async (tx) => {
      for (const name of names)
        await tx
          .insertInto('npm_packages')
          .values({
            ...{ id: name, repository: 'releases', name, revision: 1, created_at: at, modified_at: at },
            ...{ versions: 1, last_number: 1, maintainers: '[]', stars: '[]', summary: null, found_by: name },
          })
          .execute()
    })
    return database.reader
  }
  const asked = (part: string, limit: number) => ({ part, after: undefined, limit })

  it('lists packages by a part of their names in steps, between which others have their turn', async () => {
    const q = await withPackages(
      Array.from({ length: 3 * npmSearchedAtOnce }, (_, n) => `p${String(n).padStart(4, '0')}`),
    )
    let rounds = 0
    let over = false
    const round = (): void => {
      rounds += 1
      if (!over) setImmediate(round)
    }
    setImmediate(round)
    const { items } = await packagesOf(q, 'releases', asked('0599', 10))
    over = true
    assert.deepEqual([items.map(({ name }) => name), rounds >= 3], [['p0599'], true], `${rounds} rounds`)
  })

  it('goes on with such a list where a package goes before it is shown', async () => {
    const q = await withPackages(['a1', 'a2', 'a3', 'a4'])
    let statements = 0
    const gone = new Proxy(q, {
      get(reader, field) {
        if (field !== 'selectFrom') return Reflect.get(reader, field)
        return (table: 'npm_packages') => {
          statements += 1
          // Names come first, and then the rows of those that are shown.
          return statements === 1 ? reader.selectFrom(table) : reader.selectFrom(table).where('name', '!=', 'a2')
        }
      },
    })
    const first = await packagesOf(gone satisfies Queries, 'releases', asked('a', 2))
    assert.deepEqual([first.items.map(({ name }) => name), first.next === null], [['a1'], false])
    const second = await packagesOf(q, 'releases', { ...asked('a', 2), after: first.next ?? undefined })
    assert.deepEqual([second.items.map(({ name }) => name), second.next], [['a3', 'a4'], null])
  })
})
