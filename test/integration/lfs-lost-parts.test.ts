import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { MiB } from '../../src/kernel/units.ts'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { type Action, isRefused, lfsSite, newObject } from '../harness/lfs.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false }, onDisk: true })

  it('an upload whose stored bytes are gone ends, and the next try begins anew', async () => {
    const object = newObject(2 * MiB)
    const told = await site.batch('upload', [object], { transfers: ['basic', 'tus'] })
    const upload: Action = told.json.objects[0].actions.upload
    const send = (offset: number, end?: number): Promise<Told> =>
      site.follow(upload, {
        method: 'PATCH',
        headers: { 'upload-offset': String(offset) },
        body: object.bytes.subarray(offset, end),
      })
    assert.equal((await send(0, MiB)).status, 204)
    const staging = join(site.service.dataDir, 'staging')
    const places = await readdir(staging)
    assert.ok(places.length > 0)
    for (const name of places) await rm(join(staging, name), { recursive: true })
    isRefused(await send(MiB), 409, /gone from the blob store/)
    const asked = await site.follow(upload, { method: 'HEAD' })
    assert.equal(asked.headers['upload-offset'], '0')
    assert.equal((await send(0)).status, 204)
    assert.ok((await site.pull(object)).equals(object.bytes))
  })
})
