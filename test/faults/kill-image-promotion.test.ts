import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { actionsOf } from '../../src/kernel/actions.ts'
import { faultPoints } from '../../src/kernel/fault-points.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { described, imageType, indexType, manifestOf, type Pushed, pusher } from '../harness/images.ts'
import { createRepository } from '../harness/people.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { everyRow } from '../harness/rows.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import { Site } from './site.ts'
import { answerOrNone } from './uploads.ts'

/**
 * Sudden death at each step of the promotion of an image: afterwards all of it is in the target, with what the journals
 * and the counters tell, or none of it is; whoever asks again gets it.
 */
endProgramsAfterTests()
after(closeConnections)

const points = faultPoints.filter((point) => point.startsWith('image-promotion.'))

/** What a promotion writes, and what nothing else touches while nobody asks. */
const written = /^(?:oci_\w+|claims|counters|journal|repositories) /

const undated = (row: string): string => row.replace(/"counted_on_at":"[^"]+"/, '')

forEachEngine((engine) => {
  let site: Site
  let credential = ''
  before(async () => {
    // Nothing that is left untagged is given up: what is compared must not go by itself.
    const settings = { SVC_CLEANUP_GRACE_HOURS: '8760' }
    site = new Site(await mkdtemp(join(tmpdir(), 'svc-kill-')), await engine.readyDatabaseUrl(), settings)
    await site.live()
    for (const repository of ['near', 'far']) await createRepository(site, repository)
    const bindings = ['near', 'far'].map((id) => binding(id, ...actionsOf('write')))
    const account = await createServiceAccount(site, bindings)
    credential = (await activeKey(site, account.id, { bindings })).secret
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  const ask = (given: Ask): Promise<Told> => site.ask({ credential, ...given })
  const expect = (given: Ask, status: number) => expectAnswer(site, { credential, ...given }, status)
  const { pushManifest, newImage } = pusher(expect)
  const everything = async (): Promise<string[]> =>
    (await everyRow(site))
      .split('\n')
      .filter((row) => written.test(row))
      .sort()

  /** An index of an image, with a signature, under the tag `v1` and on a stage: what belongs together. */
  const prepared = async (name: string): Promise<readonly Pushed[]> => {
    const image = `near/${name}`
    const child = await newImage(image)
    await pushManifest(image, child, child.digest)
    const index = manifestOf({ manifests: [described(child.text, imageType)] }, indexType)
    await pushManifest(image, index, 'v1')
    const signature = await newImage(image, { subject: described(index.text, indexType) })
    await pushManifest(image, signature, signature.digest)
    const json = { image: name, reference: 'v1' }
    await expect({ method: 'PUT', path: '/api/v1/repositories/near/images/stages/tested', json }, 200)
    return [index, child, signature]
  }

  describe('killed during the promotion of an image', () => {
    for (const mode of ['copy', 'move'] as const)
      for (const point of points)
        it(`as ${mode} at ${point}: it is there whole or not at all, and can be asked for again`, async () => {
          await site.live()
          const name = `${mode}/${point}`
          const all = await prepared(name)
          const before = await everything()
          const json = { image: name, reference: 'v1', target: 'far', mode, stages: ['released'], comment: point }
          const promotion = { path: '/api/v1/repositories/near/images/promote', json }
          await site.dieAt(point)
          assert.equal(await answerOrNone(ask(promotion)), null)
          await site.died()

          await site.live()
          await site.inOrder()
          const committed = point === 'image-promotion.committed'
          const left = await everything()
          if (!committed) assert.deepEqual(left, before)
          const told = await expect(promotion, committed ? 200 : 201)
          // Whoever asks counts on it from then on.
          if (committed) assert.deepEqual((await everything()).map(undated), left.map(undated), 'it was there already')
          assert.deepEqual(told.json.stages, mode === 'move' ? ['released', 'tested'] : ['released'])
          for (const { digest, text } of all) {
            const got = await expect({ path: `/v2/far/${name}/manifests/${digest}` }, 200)
            assert.equal(got.text, text)
            for (const layer of JSON.parse(text).layers ?? [])
              await expect({ path: `/v2/far/${name}/blobs/${layer.digest}` }, 200)
          }
          await expect({ path: `/v2/near/${name}/manifests/v1` }, mode === 'move' ? 404 : 200)
          await site.inOrder()
        })
  })
})
