import assert from 'node:assert/strict'
import { test } from 'node:test'
import { othersRoundsWhile } from '../../../test/harness/others-rounds.ts'
import { npmDocumentsReadAtOnce, npmParsedAtOnceBytes } from '../../kernel/limits/npm.ts'
import { Rounds } from './rounds.ts'

test('others have their turn while many versions are parsed, and while few large ones are', async () => {
  const roundsOf = (count: number, bytes: number): Promise<number> => {
    const rounds = new Rounds()
    return othersRoundsWhile(async () => {
      for (let version = 0; version < count; version++) await rounds.before(Buffer.alloc(bytes))
    })
  }
  assert.equal(await roundsOf(npmDocumentsReadAtOnce - 1, 10), 0)
  assert.ok((await roundsOf(3 * npmDocumentsReadAtOnce, 10)) >= 3)
  assert.ok((await roundsOf(8, npmParsedAtOnceBytes / 2 + 1)) >= 3)
})
