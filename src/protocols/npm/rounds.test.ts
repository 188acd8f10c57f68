import assert from 'node:assert/strict'
import { test } from 'node:test'
import { npmDocumentsReadAtOnce, npmParsedAtOnceBytes } from '../../kernel/limits/npm.ts'
import { Rounds } from './rounds.ts'

test('others have their turn while many versions are parsed, and while few large ones are', async () => {
  const roundsOf = async (count: number, bytes: number): Promise<number> => {
    let others = 0
    let goesOn = true
    const other = (): void => {
      others += 1
      if (goesOn) setImmediate(other)
    }
    const rounds = new Rounds()
    setImmediate(other)
    for (let version = 0; version < count; version++) await rounds.before(Buffer.alloc(bytes))
    goesOn = false
    return others
  }
  assert.equal(await roundsOf(npmDocumentsReadAtOnce - 1, 10), 0)
  assert.ok((await roundsOf(3 * npmDocumentsReadAtOnce, 10)) >= 3)
  assert.ok((await roundsOf(8, npmParsedAtOnceBytes / 2 + 1)) >= 3)
})
