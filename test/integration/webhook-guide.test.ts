import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { deliveryCodes } from '../../src/features/operating/webhooks/delivery.ts'
import { journalActions } from '../../src/kernel/journal-actions.ts'
import { root } from '../harness/processes.ts'

const page = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8')

/** What stands in the first column of tables, as code. */
const firstColumn = (text: string): string[] =>
  [...text.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', ').map((each) => each.replaceAll('`', '')),
  )

it('the guide lists every action that a feed has, once', () => {
  const listed = firstColumn(page('guide/webhooks.md'))
  assert.deepEqual(listed.toSorted(), [...journalActions].sort())
})

it('the page for operators lists every code of a delivery, once', () => {
  const listed = firstColumn(page('operating/webhooks.md'))
  assert.deepEqual(listed.toSorted(), [...deliveryCodes].sort())
})
