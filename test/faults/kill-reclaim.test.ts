import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine, onPostgres, type TestEngine } from '../harness/engines.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { inDatabase } from '../harness/rows.ts'
import { until } from '../harness/until.ts'
import { makeKeeper, removeArtifact } from './keeper.ts'
import { Site } from './site.ts'
import { answerOrNone, bytesOf, type File, fileOf, throughSession } from './uploads.ts'

/** Sudden death while bytes are removed: what is held stays, what is not goes, and the journal tells it once. */
endProgramsAfterTests()
after(closeConnections)

const releases = '/api/v1/repositories/releases'

const reclaimDies = (engine: TestEngine, { objectStore }: { objectStore: boolean }): void => {
  let site: Site
  let keeper: string

  before(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-kill-'))
    site = new Site(dataDir, await engine.readyDatabaseUrl(), {
      SVC_CLEANUP_GRACE_HOURS: '0',
      ...(objectStore ? { SVC_BLOB_STORE: (await engine.freshBlobStoreUrl()) ?? '' } : {}),
    })
    await site.live()
    keeper = await makeKeeper(site)
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })

  const publish = async (file: File): Promise<string> => {
    const told = await throughSession.send(site, { ...file, path: `${file.path}-${randomUUID()}` })
    assert.equal(told.status, 200, told.text)
    site.acknowledged.set(throughSession.place(file, told), file.bytes)
    return told.json.id
  }
  const remove = async (id: string): Promise<void> => {
    const told = await removeArtifact(site, keeper, id)
    assert.equal(told.json.outcome, 'deleted', told.text)
    site.acknowledged.delete(`${releases}/artifacts/${id}/content`)
  }
  const reclaimed = (id: string): Promise<number> =>
    inDatabase(site, async (q) => {
      const rows = q.selectFrom('journal').select('sequence').where('artifact_id', '=', id)
      return (await rows.where('action', '=', 'bytes.reclaim').execute()).length
    })

  describe(`killed while bytes are removed from ${objectStore ? 'an object store' : 'a folder'}`, () => {
    for (const point of ['reclaim.given-up', 'reclaim.removed'] as const)
      it(`at ${point}: the next process ends it, and nothing that somebody holds is touched`, async () => {
        await site.live()
        const shared = fileOf(`shared.${point}`, bytesOf(`${engine.name} shared ${point}`, 50_000))
        const single = fileOf(`single.${point}`, bytesOf(`${engine.name} single ${point}`, 60_000))
        const [kept, gone] = [await publish(shared), await publish(shared)]
        const alone = await publish(single)
        for (const id of [gone, alone]) await remove(id)
        await site.stop()
        // Upkeep begins with the process, and reclaim with it.
        await site.liveUntil(point)

        await site.live()
        // Whoever wants the same content back meanwhile gets it, whatever state it is in.
        const again = fileOf(`again.${point}`, single.bytes)
        const back = await answerOrNone(throughSession.send(site, again))
        assert.equal(back?.status, 200, back?.text ?? 'no answer')
        if (back !== null) site.acknowledged.set(throughSession.place(again, back), again.bytes)
        await site.inOrder()
        await site.keepsWhatItAcknowledged()

        // Now nobody holds it but the new one; when that goes too, the bytes go, and the journal says so once.
        await remove(String(back?.json.id))
        await site.stop()
        await site.live()
        await until('the bytes are gone', async () => !(await site.stored()).includes(single.sha256))
        await until('the journal tells', async () => (await reclaimed(String(back?.json.id))) === 1)
        await site.inOrder()
        await site.keepsWhatItAcknowledged()
        assert.ok((await site.stored()).includes(shared.sha256), `${kept} holds it`)
        assert.equal(await reclaimed(gone), 0, 'another file holds the bytes')
      })
  })
}

forEachEngine((engine) => reclaimDies(engine, { objectStore: false }))
onPostgres((engine) => reclaimDies(engine, { objectStore: true }))
