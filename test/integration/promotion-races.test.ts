import assert from 'node:assert/strict'
import { after, afterEach, before, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { isFair, oneDeed, otherSide, Promoters, sides } from '../harness/promoters.ts'
import { randomOf } from '../harness/random.ts'
import { startService, type TestService } from '../harness/service.ts'
import { promotionsAreWhole } from '../harness/whole-promotions.ts'

after(closeConnections)

const clients = 8
const deedsEach = 40
const seed = process.env['SVC_TEST_SEED'] ?? 'promotion'

forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let promoters: Promoters
  before(async () => {
    service = await startService(engine)
    inspection = await openInspection(service)
    promoters = await Promoters.on(service)
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })
  afterEach(async () => {
    promoters.areTold(await promotionsAreWhole(service, sides))
    await inspection.inOrder()
  })

  const isFairToAll = (answers: readonly Told[]): void => {
    for (const told of answers) assert.ok(isFair(told), `${told.status} ${told.text}`)
  }

  it(`no copy is half while others publish, annotate, stage, delete and promote both ways (seed ${seed})`, async () => {
    await promoters.make('near')
    const client = async (name: string): Promise<void> => {
      const random = randomOf(`${seed} ${name}`)
      for (let count = 0; count < deedsEach; count++) await oneDeed(promoters, random, `${name}-${count}`)
    }
    await Promise.all(Array.from({ length: clients }, (_, index) => client(`client-${index}`)))
    assert.ok(promoters.promoted.length > clients, 'they were in the way of each other')
  })

  it('a build and its copy that are promoted to each other, annotated and deleted at once are whole', async () => {
    for (let round = 0; round < 6; round++) {
      const build = await promoters.make(round % 2 === 0 ? 'near' : 'far')
      await promoters.annotate(build)
      await promoters.stage(build, 'tested')
      const { json } = await promoters.promote(build, { mode: 'copy', comment: `first of ${round}` })
      const copy = { repository: otherSide(build.repository), id: String(json.artifactId) }
      isFairToAll(
        await Promise.all([
          promoters.promote(build, { mode: 'move', stages: ['released'], comment: `there ${round}` }),
          promoters.promote(copy, { mode: 'move', comment: `back ${round}` }),
          promoters.promote(build, { mode: 'copy', comment: `copy ${round}` }),
          promoters.annotate(build),
          promoters.annotate(copy),
          promoters.remove(copy),
          promoters.remove(build),
          promoters.unstage(build, 'tested'),
        ]),
      )
    }
  })

  it('promoted by many at once, a build and what is said of it arrive once', async () => {
    for (let round = 0; round < 6; round++) {
      const build = await promoters.make('near')
      const answers = await Promise.all([
        promoters.annotate(build),
        ...['copy', 'copy', 'move', 'copy'].map((mode, index) =>
          promoters.promote(build, { mode: mode === 'move' ? mode : 'copy', comment: `${index} of round ${round}` }),
        ),
      ])
      isFairToAll(answers)
      const copies = new Set(answers.slice(1).flatMap((told) => (told.status < 300 ? [told.json.artifactId] : [])))
      assert.equal(copies.size, 1)
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    }
  })
})
