import { after, it } from 'node:test'
import fc from 'fast-check'
import { cleanupGraceHoursDefault } from '../../src/kernel/limits/transfers.ts'
import { hour, second } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine } from '../harness/engines.ts'
import { openInspection } from '../harness/inspection.ts'
import { NpmWalk, type Wish, walkedNames } from '../harness/npm-walk.ts'
import { startService, stillClock } from '../harness/service.ts'
import { freshName } from '../harness/service-keys.ts'

after(closeConnections)

/**
 * Random walks through what clients do with packages, several of them at once, beside a model of packages, versions and
 * tags (`modelled-npm.ts`): documents of both forms, lists, tarballs and what the repository counts say what it says.
 */
const version = fc.constantFrom('0.9.0', '1.0.0', '1.2.0', '1.10.0', '2.0.0-rc.1', '2.0.0')
const tag = fc.constantFrom('latest', 'next', 'stable')
const some = fc.uniqueArray(version, { minLength: 1, maxLength: 3 })
const stale = fc.constantFrom(false, false, false, true)
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('publish'), version, tag }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('tag'), version, tag }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('untag'), tag }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('deprecate'),
      versions: some,
      sentence: fc.constantFrom('', 'old', 'ü "q"'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('unpublish'), versions: some, stale }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('own'), owner: fc.constantFrom('one', 'two'), stale }) },
)
const name = fc.constantFrom(...walkedNames)
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('act'), name, wishes: fc.array(wish, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore'), name, version }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('time'), hours: fc.constantFrom(1, 23, 25) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
)

forEachEngine((engine) => {
  it('packages are what a model of them says, whoever changes them at once', async () => {
    const service = await startService(engine, { roles: { gateway: 'api', worker: false }, clock: stillClock() })
    const inspection = await openInspection(service)
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 25, size: 'max' }), async (steps) => {
          const walk = await NpmWalk.begin(service, inspection, freshName('walk'), cleanupGraceHoursDefault)
          for (const each of steps) {
            service.clock.advance(second)
            if (each.kind === 'restart') await service.restart()
            else if (each.kind === 'act') await walk.act(each.name, each.wishes)
            else if (each.kind === 'restore') await walk.act(each.name, [{ kind: 'restore', version: each.version }])
            else {
              service.clock.advance(each.hours * hour)
              await inspection.upkeep()
              walk.upkeepRan()
              await walk.compareAll()
            }
          }
          await walk.compareAll()
          await inspection.inOrder()
        }),
        walks(6, 44),
      )
    } finally {
      await inspection.close()
      await service.stop()
    }
  })
})
