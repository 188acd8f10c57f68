import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { objectBytesMax, partBytesMax, partBytesMin, partsMax } from '../../kernel/limits/transfers.ts'
import { partCount, partLength, planParts } from './part-plan.ts'

describe('planParts', () => {
  it('takes 8 MiB until that would be more than 10,000 parts, then doubles', () => {
    assert.equal(planParts(1).partBytes, partBytesMin)
    assert.equal(planParts(partsMax * partBytesMin).partBytes, partBytesMin)
    assert.equal(planParts(partsMax * partBytesMin + 1).partBytes, 2 * partBytesMin)
    assert.equal(planParts(objectBytesMax).partBytes, partBytesMax)
    assert.equal(partCount(planParts(objectBytesMax)), partsMax)
    assert.equal(partCount(planParts(0)), 0)
  })

  it('cuts every size into parts that add up, all alike but the last', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: objectBytesMax }), (bytes) => {
        const plan = planParts(bytes)
        const last = partCount(plan) - 1
        assert.ok(last < partsMax && plan.partBytes >= partBytesMin && plan.partBytes <= partBytesMax)
        assert.equal(last * plan.partBytes + partLength(plan, last), bytes)
        assert.ok(partLength(plan, last) >= 1 && partLength(plan, last) <= plan.partBytes)
        if (last > 0) assert.equal(partLength(plan, 0), plan.partBytes)
      }),
    )
  })
})
