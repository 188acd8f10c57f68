import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cursorAtTime } from './id-time.ts'

it('a time is a place among the ids of files, in both directions', () => {
  const time = '2026-11-24T00:00:00.000Z'
  const at = cursorAtTime('asc', time)
  assert.equal(Number.parseInt(at.replaceAll('-', '').slice(0, 12), 16), Date.parse(time))
  assert.match(at, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  assert.equal(cursorAtTime('desc', time), `desc.${at}`)
  assert.ok(cursorAtTime('asc', '2026-11-23T23:59:59.999Z') < at)
})
