import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { unplanned } from '../../src/ports/blob-store.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { configType, described, imageSite, layerType, manifestOf, sha256 } from '../harness/images.ts'
import { digestOf, type Inspection, openInspection } from '../harness/inspection.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

/** Whoever sends what is there already hears that it is there: so it has to be, and nothing more is asked for it. */
forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushManifest } = site
  let inspection: Inspection
  before(async () => {
    inspection = await openInspection(site.service)
  })
  after(() => inspection.close())

  const raw = '/api/v1/repositories/releases/raw'
  const uploads = '/v2/releases/again/blobs/uploads/'
  const begin = async (): Promise<string> =>
    String((await expect({ method: 'POST', path: uploads }, 202)).headers.location)
  const blobAt = (bytes: Uint8Array): string => `/v2/releases/again/blobs/${sha256(bytes)}`

  /** Ways to send bytes, and where they are then; each sends to the same place however often. */
  const ways: Record<string, (bytes: Buffer) => { send: () => Promise<unknown>; at: string }> = {
    'a file by path': (bytes) => {
      const path = `${raw}/${digestOf(bytes)}`
      return { at: path, send: () => site.ask({ method: 'PUT', path, body: bytes }) }
    },
    'a file by path, with its digest': (bytes) => {
      const path = `${raw}/with/${digestOf(bytes)}`
      const headers = { 'x-checksum-sha256': digestOf(bytes) }
      return { at: path, send: () => site.ask({ method: 'PUT', path, headers, body: bytes }) }
    },
    'a blob of an image': (bytes) => ({ at: blobAt(bytes), send: () => pushBlob('releases/again', bytes) }),
    'a blob of an image, with the first request': (bytes) => ({
      at: blobAt(bytes),
      send: () => expect({ method: 'POST', path: `${uploads}?digest=${sha256(bytes)}`, body: bytes }, 201),
    }),
    'a blob of an image, appended': (bytes) => ({
      at: blobAt(bytes),
      send: async () => {
        const path = await begin()
        await expect({ method: 'PATCH', path, body: bytes }, 202)
        await expect({ method: 'PUT', path: `${path}?digest=${sha256(bytes)}` }, 201)
      },
    }),
  }

  const lose = async (bytes: Uint8Array): Promise<void> => {
    const digest = digestOf(bytes)
    await inDatabase(site.service, (q) => q.deleteFrom('inline_bytes').where('sha256', '=', digest).execute())
    await inspection.store.delete(await inspection.nameOf(digest))
  }
  const spoil = async (bytes: Uint8Array): Promise<void> => {
    await lose(bytes)
    const staged = await inspection.store.stage(randomUUID(), unplanned)
    await staged.write(randomBytes(10))
    await staged.publish(await inspection.nameOf(digestOf(bytes)))
  }

  describe('what the store has lost', () => {
    for (const [what, way] of Object.entries(ways))
      for (const length of [300, 200_000])
        it(`comes back where it is sent again: ${what} of ${length} bytes`, async () => {
          const bytes = randomBytes(length)
          const { send, at } = way(bytes)
          await send()
          await lose(bytes)
          await send()
          assert.ok((await expect({ path: at }, 200)).bytes.equals(bytes))
          await inspection.inOrder()
        })

    it('comes back, too, where other bytes took its place that are not as many', async () => {
      for (const [what, way] of Object.entries(ways))
        for (const length of [300, 200_000]) {
          const bytes = randomBytes(length)
          const { send, at } = way(bytes)
          await send()
          await spoil(bytes)
          await send()
          assert.ok((await expect({ path: at }, 200)).bytes.equals(bytes), `${what} of ${length} bytes`)
          await inspection.inOrder()
        }
    })

    it('comes back where it is sent to a repository that never had it, and is there for both', async () => {
      const bytes = randomBytes(200_000)
      const { send, at } = ways['a blob of an image, appended']?.(bytes) ?? assert.fail()
      const elsewhere = `/v2/second/never/blobs/${sha256(bytes)}`
      const put = { method: 'POST', path: `/v2/second/never/blobs/uploads/?digest=${sha256(bytes)}`, body: bytes }
      await expect(put, 201)
      await spoil(bytes)
      await send()
      for (const path of [at, elsewhere]) assert.ok((await expect({ path }, 200)).bytes.equals(bytes), path)
      await inspection.inOrder()
    })
  })

  it('small bytes that the store has lost come back with whoever sends them to another place', async () => {
    const bytes = randomBytes(300)
    const digest = digestOf(bytes)
    const put = (path: string) => site.ask({ method: 'PUT', path, body: bytes })
    assert.equal((await put(`${raw}/first/${digest}`)).status, 201)
    await lose(bytes)
    // As where small files lie in the store still, after an upgrade or another setting.
    await inDatabase(site.service, (q) =>
      q.updateTable('blobs').set({ inline: 0 }).where('sha256', '=', digest).execute(),
    )
    const second = `${raw}/second/${digest}`
    assert.equal((await put(second)).status, 201)
    assert.ok((await expect({ path: second }, 200)).bytes.equals(bytes))
    await inspection.inOrder()
  })

  describe('at a quota that is full', () => {
    const setQuota = (full: boolean) =>
      inDatabase(site.service, (q) =>
        q
          .updateTable('repositories')
          .set((eb) => ({ quota_bytes: full ? eb('published_bytes', '+', eb.ref('pending_bytes')) : null }))
          .where('id', '=', 'releases')
          .execute(),
      )

    it('what is there already is sent again, and nothing else', async () => {
      const config = JSON.stringify({ os: 'linux', quota: 'full' })
      const layer = randomBytes(300_000)
      await pushBlob('releases/again', config)
      await pushBlob('releases/again', layer)
      const manifests = [{}, { annotations: { long: 'x'.repeat(30_000) } }].map((more) =>
        manifestOf({ config: described(config, configType), layers: [described(layer, layerType)], ...more }),
      )
      for (const [at, manifest] of manifests.entries()) await pushManifest('releases/again', manifest, `v${at}`)
      const file = randomBytes(300_000)
      const put = {
        ...{ method: 'PUT', path: `${raw}/full`, body: file },
        headers: { 'x-checksum-sha256': digestOf(file) },
      }
      await expect(put, 201)
      await setQuota(true)
      await pushBlob('releases/again', config)
      await pushBlob('releases/again', layer)
      for (const [at, manifest] of manifests.entries()) await pushManifest('releases/again', manifest, `again-${at}`)
      await expect(put, 200)
      const other = randomBytes(300_000)
      const wrong = `${await begin()}?digest=${sha256(layer)}`
      await expect({ method: 'PUT', path: wrong, body: other }, 400, 'DIGEST_INVALID')
      await expect({ method: 'POST', path: `${uploads}?digest=${sha256(other)}`, body: other }, 413, 'DENIED')
      const told = await site.ask({ ...put, body: other })
      assert.deepEqual([told.status, told.json.code], [422, 'checksum_mismatch'])
      await setQuota(false)
      await inspection.inOrder()
    })
  })
})
