import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { addressSeconds } from '../../src/kernel/limits/lfs.ts'
import { closeConnections } from '../harness/client.ts'
import { onPostgres } from '../harness/engines.ts'
import { newGitRemote, sitDownWithGit } from '../harness/git-desks.ts'
import { isRefused, lfsSite, newObject } from '../harness/lfs.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'

endProgramsAfterTests()
after(closeConnections)

onPostgres((engine) => {
  const site = lfsSite(engine, {
    roles: { gateway: 'api', worker: false },
    settings: { SVC_REDIRECT_DOWNLOADS: 'true' },
  })
  const { action, follow, push } = site

  describe('objects of Git LFS from the object store itself, where the operator allows it', () => {
    it('are fetched there, whole and from where a line broke; small ones are sent at once', async () => {
      const { bytes, ...object } = newObject(3_000_000)
      await push(bytes)
      const download = await action('download', object)
      const told = await follow(download)
      assert.deepEqual([told.status, told.bytes.byteLength], [307, 0])
      const address = String(told.headers.location)
      assert.ok(!address.startsWith(site.service.url))
      assert.ok(!address.includes(String(download.header['Authorization']).slice('Bearer '.length)))
      assert.ok(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(bytes))
      const rest = await follow(download, { headers: { range: 'bytes=1000000-2999999' } })
      assert.equal(rest.status, 307)
      const got = await fetch(String(rest.headers.location), { headers: { range: 'bytes=1000000-2999999' } })
      assert.equal(got.headers.get('content-range'), 'bytes 1000000-2999999/3000000')
      assert.ok(Buffer.from(await got.arrayBuffer()).equals(bytes.subarray(1_000_000)))
      const small = newObject(4_000)
      await push(small.bytes)
      assert.ok((await site.pull(small)).equals(small.bytes))
    })

    it('are refused to whoever may not have them any more, before they are sent there', async () => {
      const { bytes, ...object } = newObject(200_000)
      await push(bytes)
      const download = await action('download', object)
      site.service.clock.advance(addressSeconds * 1000)
      isRefused(await follow(download), 403, /has ended/)
    })

    it('come to git as they were pushed', async () => {
      const desk = await sitDownWithGit('redirects')
      await desk.keepPassword(site.service.url, site.owner.token)
      const remote = await newGitRemote(desk, 'game', `${site.service.url}/lfs/releases/game`)
      const folder = await desk.clone(remote, 'game')
      const [small, large] = [randomBytes(2_000), randomBytes(2_000_000)]
      await desk.commit(folder, { 'small.bin': small, 'large.bin': large })
      await desk.git(folder, 'push', '--quiet', 'origin', 'main')
      await rm(folder, { recursive: true })
      const clone = await desk.clone(remote, 'again')
      assert.ok((await readFile(join(clone, 'small.bin'))).equals(small))
      assert.ok((await readFile(join(clone, 'large.bin'))).equals(large))
      await desk[Symbol.asyncDispose]()
    })
  })
})
