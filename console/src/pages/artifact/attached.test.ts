import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Attachment, mergedAttachments } from './attached.ts'

const item = (name: string, description = ''): Attachment => ({ name, kind: 'file', artifactId: name, description })

describe('attachments that two change at once', () => {
  it('are all that either added, without what either took away', () => {
    const base = [item('sbom'), item('old'), item('other')]
    const mine = [item('sbom'), item('other'), item('report')]
    const theirs = [item('sbom'), item('old'), item('signature')]
    const { items, clashes } = mergedAttachments(base, mine, theirs)
    assert.deepEqual(items.map(({ name }) => name).sort(), ['report', 'sbom', 'signature'])
    assert.deepEqual(clashes, [])
  })

  it('are mine where both changed the same one, which is named', () => {
    const { items, clashes } = mergedAttachments([item('sbom')], [item('sbom', 'mine')], [item('sbom', 'theirs')])
    assert.deepEqual(items, [item('sbom', 'mine')])
    assert.deepEqual(clashes, ['sbom'])
  })
})
