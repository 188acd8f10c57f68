import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { uploadBodiesAtOnce, uploadBodiesPerCaller, uploadBodiesWaitingMax } from '../kernel/admission-limits.ts'
import { OwningScope } from '../kernel/scope.ts'
import { createUploadLine } from './upload-line.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('the line of uploads', () => {
  const scene = () => {
    const line = createUploadLine()
    const began: string[] = []
    const refused: string[] = []
    const enter = (caller: string): OwningScope => {
      const scope = new OwningScope((error) => assert.ifError(error))
      line.enter(scope, caller).then(
        () => began.push(caller),
        (error: unknown) => refused.push(error instanceof Error ? error.message : ''),
      )
      return scope
    }
    const enterMany = (caller: string, count: number): OwningScope[] =>
      Array.from({ length: count }, () => enter(caller))
    return { began, refused, enter, enterMany }
  }

  it('gives one caller half of the places, and the others theirs at once', async () => {
    const { began, refused, enter, enterMany } = scene()
    enterMany('greedy', uploadBodiesAtOnce)
    enter('other')
    await turn()
    assert.deepEqual(began, [...Array.from({ length: uploadBodiesPerCaller }, () => 'greedy'), 'other'])
    assert.deepEqual(refused, [])
  })

  it('goes on with whoever has the fewest', async () => {
    const { began, enter, enterMany } = scene()
    const ones = enterMany('one', uploadBodiesPerCaller)
    enterMany('two', uploadBodiesPerCaller)
    enterMany('two', 2)
    enter('one')
    enter('three')
    await turn()
    began.length = 0
    ones[0]?.end()
    ones[1]?.end()
    await turn()
    assert.deepEqual(began, ['three', 'one'])
  })

  it('forgets who went away, waiting or not, and is empty in the end', async () => {
    const { began, refused, enterMany } = scene()
    const all = ['one', 'two', 'three'].flatMap((caller) => enterMany(caller, uploadBodiesPerCaller))
    await turn()
    assert.equal(began.length, uploadBodiesAtOnce)
    for (const scope of all.toReversed()) scope.end()
    await turn()
    assert.equal(refused.length, uploadBodiesPerCaller)
    began.length = 0
    enterMany('one', uploadBodiesPerCaller)
    enterMany('two', uploadBodiesPerCaller)
    await turn()
    assert.equal(began.length, uploadBodiesAtOnce)
  })

  it('is no longer than it may be', async () => {
    const { refused, enterMany } = scene()
    const all = enterMany('one', uploadBodiesPerCaller + uploadBodiesWaitingMax + 1)
    await turn()
    assert.equal(refused.length, 1)
    assert.match(refused[0] ?? '', /Send the file again/)
    for (const scope of all) scope.end()
  })
})
