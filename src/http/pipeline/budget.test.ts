import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../kernel/failure.ts'
import { budgetCallersMax, budgetSeconds } from '../../kernel/limits/http.ts'
import { type Budget, createBudget } from './budget.ts'

const make = (perSecond: number) => {
  let nowMs = 1_000
  const budget = createBudget(perSecond, () => nowMs)
  return {
    budget,
    pass: (milliseconds: number) => {
      nowMs += milliseconds
    },
  }
}

/** How many requests go through before the first refusal, and that refusal. */
const spendAll = (budget: Budget, caller: string, most = 1_000): { spent: number; refused: Failure | null } => {
  for (let spent = 0; spent < most; spent++) {
    try {
      budget.spend(caller)
    } catch (error) {
      assert(error instanceof Failure)
      return { spent, refused: error }
    }
  }
  return { spent: most, refused: null }
}

describe('a request budget', () => {
  it('lets a burst of some seconds pass, then refuses with the time to wait', () => {
    const { budget } = make(10)
    const { spent, refused } = spendAll(budget, 'a')
    assert.equal(spent, 10 * budgetSeconds)
    assert.equal(refused?.code, 'rate_limited')
    assert.equal(refused?.retryAfterSeconds, 1)
  })

  it('refills with time and never beyond its capacity', () => {
    const { budget, pass } = make(10)
    spendAll(budget, 'a')
    pass(300)
    assert.equal(spendAll(budget, 'a').spent, 3)
    pass(3_600_000)
    assert.equal(spendAll(budget, 'a').spent, 10 * budgetSeconds)
  })

  it('costs nothing to be refused', () => {
    const { budget, pass } = make(1)
    spendAll(budget, 'a')
    for (let i = 0; i < 50; i++) assert.throws(() => budget.spend('a'))
    pass(1_000)
    budget.spend('a')
  })

  it('is refilled exactly when it says', () => {
    const { budget, pass } = make(2)
    spendAll(budget, 'a')
    pass(499)
    assert.throws(() => budget.spend('a'))
    pass(1)
    budget.spend('a')
    assert.throws(() => budget.spend('a'))
  })

  it('is one of its own for each caller', () => {
    const { budget } = make(5)
    spendAll(budget, 'a')
    assert.equal(spendAll(budget, 'b').spent, 5 * budgetSeconds)
  })

  it('remembers a bounded number of callers and forgets the ones that came first', () => {
    const { budget } = make(1)
    spendAll(budget, 'first')
    assert.throws(() => budget.spend('first'))
    for (let i = 0; i < budgetCallersMax - 1; i++) budget.spend(`caller ${i}`)
    assert.throws(() => budget.spend('first'), 'it is still within the bound')
    budget.spend('one more')
    assert.equal(spendAll(budget, 'first').spent, budgetSeconds, 'forgotten, so its bucket is full')
  })
})
