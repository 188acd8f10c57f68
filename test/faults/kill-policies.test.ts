import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type RepositoryAction, repositoryActions } from '../../src/kernel/actions.ts'
import { faultPoints } from '../../src/kernel/fault-points.ts'
import { retentionItemsMax } from '../../src/kernel/limits/lifecycle.ts'
import { type Ask, closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { indexType, manifestOf, pusher } from '../harness/images.ts'
import { createRepository } from '../harness/people.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { until } from '../harness/until.ts'
import { Site } from './site.ts'

/**
 * Sudden death while a storage policy deletes images by its schedule: whole batches are gone or none of one, the run is
 * due as it was, and the next process ends it.
 */
endProgramsAfterTests()
after(closeConnections)

const points = faultPoints.filter((point) => point.startsWith('policy.'))
const images = retentionItemsMax + 20

forEachEngine((engine) => {
  let site: Site
  before(async () => {
    site = new Site(await mkdtemp(join(tmpdir(), 'svc-kill-')), await engine.readyDatabaseUrl())
    await site.live()
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  /** A repository of many images and a policy that keeps the newest. */
  const prepared = async (repository: string) => {
    await createRepository(site, repository)
    const all: readonly RepositoryAction[] = repositoryActions
    const bindings = [binding(repository, ...all)]
    const account = await createServiceAccount(site, bindings)
    const credential = (await activeKey(site, account.id, { bindings })).secret
    const expect = (given: Ask, status: number) => expectAnswer(site, { credential, ...given }, status)
    const { pushManifest } = pusher(expect)
    for (let n = 0; n < images; n++)
      await pushManifest(
        `${repository}/app`,
        manifestOf({ manifests: [], annotations: { n: `${n}` } }, indexType),
        `t${n}`,
      )
    const path = `/api/v1/repositories/${repository}/storage`
    const { revision: expectedRevision, policy } = (await expect({ path: `${path}/policy` }, 200)).json
    const change = { enabled: true, grouping: 'package', keepLast: 1, minAgeHours: 0, intervalMinutes: 50 }
    const json = { expectedRevision, policy: { ...policy, ...change } }
    await expect({ method: 'PUT', path: `${path}/policy`, json }, 200)
    return {
      async lastRun(): Promise<string | null> {
        return (await expect({ path: `${path}/policy` }, 200)).json.lastRunAt
      },
      async runs(): Promise<{ details: Record<string, unknown> }[]> {
        const { items } = (await expect({ path: `${path}/events` }, 200)).json
        return items.filter(({ code }: { code: string }) => code === 'run.finished')
      },
    }
  }
  const tagsIn = (repository: string): Promise<string[]> =>
    inDatabase(site, async (q) =>
      (await q.selectFrom('oci_tags').select('tag').where('repository', '=', repository).execute()).map(
        ({ tag }) => tag,
      ),
    )
  const linesIn = (repository: string): Promise<number> =>
    inDatabase(
      site,
      async (q) =>
        (
          await q
            .selectFrom('journal')
            .select('sequence')
            .where('repository', '=', repository)
            .where('action', '=', 'tag.remove')
            .where('actor', '=', 'system:retention')
            .execute()
        ).length,
    )

  describe('killed while a policy deletes images', () => {
    for (const point of points)
      it(`at ${point}: the next process ends the run, and each image is told of once`, async () => {
        await site.live()
        const repository = point.replace('.', '-')
        const { lastRun, runs } = await prepared(repository)
        await site.stop()
        // The next life begins an hour later, with its upkeep: the run is due.
        await site.liveUntil(point)
        const gone = point === 'policy.batch' ? retentionItemsMax : 0
        assert.equal((await tagsIn(repository)).length, images - gone)
        assert.equal(await linesIn(repository), gone)

        await site.live()
        await until('the run has ended', async () => (await lastRun()) !== null)
        assert.deepEqual(await tagsIn(repository), [`t${images - 1}`])
        assert.equal(await linesIn(repository), images - 1)
        const told = (await runs()).map(({ details }) => details['imagesDeleted'])
        assert.deepEqual(told, [images - 1 - gone])
        await site.inOrder()
      })
  })
})
