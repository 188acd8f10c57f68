import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type LoneService, startLoneService } from '../harness/lone-service.ts'
import { askDoctor, endProgramsAfterTests, root } from '../harness/processes.ts'
import { likeThePage, stepsOf } from './page.ts'
import { at, isOnThePage, paste } from './pasting.ts'

endProgramsAfterTests()

const page = readFileSync(join(root, 'docs/guide/life-of-a-build.md'), 'utf8')
const steps = stepsOf(page)
/** Comes after it, in the same shell. */
const packages = stepsOf(readFileSync(join(root, 'docs/guide/packages.md'), 'utf8'))

describe('the life of a build, as its page tells it', { timeout: 120_000 }, () => {
  let service: LoneService
  before(async () => {
    service = await startLoneService('life')
  })
  after(() => service[Symbol.asyncDispose]())

  test('goes from the upload to the deletion, and on to packages: every command works, and answers what stands there', async () => {
    assert.ok(steps.length >= 10, 'commands are missing')
    const { address, folder, settings } = service
    const scratch = join(folder, 'scratch place')
    await mkdir(scratch)
    const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
    const { printed } = await paste([...steps, ...packages], {
      environment: { PATH: path, TMPDIR: scratch },
      cwd: folder,
      changed: at(address),
    })
    isOnThePage(steps, printed)
    assert.deepEqual((await askDoctor(settings)).damage, [])
    assert.match(printed.slice(steps.length).join(''), /"version":"1\.2\.0"/)
    assert.deepEqual(
      readdirSync(folder).sort(),
      ['data', 'scratch place'],
      'a file was left where the commands were typed',
    )
  })

  test('is held against the page: another file, another order or another word is seen', () => {
    const [one, other] = ['01a1fe8f-6777-7329-9d3f-237dcd12a10a', '01a1fe8f-6bb9-7238-b5b5-2f5bd06a3ef6']
    const [here, there] = ['01a20000-0000-7000-8000-000000000001', '01a20000-0000-7000-8000-000000000002']
    const like = likeThePage()
    const says = (said: object, printed: object): void =>
      like({ form: 'json', text: JSON.stringify(said) }, JSON.stringify(printed), 'look')
    says({ id: one, at: '2026-01-01T00:00:00.000Z' }, { id: here, at: '2027-01-01T00:00:00.000Z' })
    says({ items: [`of ${one}`, other] }, { items: [`of ${here}`, there] })
    assert.throws(() => says({ id: one }, { id: there }))
    assert.throws(() => says({ id: other }, { id: here }))
    assert.throws(() => says({ items: [one, other] }, { items: [there, here] }))
    assert.throws(() => says({ at: '2026-01-01T00:00:00.000Z' }, { at: '2028-01-01T00:00:00.000Z' }))
    assert.throws(() => says({ outcome: 'deleted' }, { outcome: 'protected' }))
    assert.throws(() => says({ id: one }, { id: here, more: true }))
    assert.throws(() => like(null, 'a word\n', 'look'))
    assert.throws(() => like({ form: 'text', text: '1.0.0\n' }, '1.0.1\n', 'look'))
  })
})
