import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { fileOfPoint } from '../../src/features/operating/backups/find-file.ts'
import { bytesOfDigest } from '../../src/features/operating/backups/point-bytes.ts'
import { idIn } from '../../src/features/operating/backups/repository-rows.ts'
import { restoreRepository } from '../../src/features/operating/backups/restore-repository.ts'
import { unasked } from '../../src/journal/security-audit/security-audit.ts'
import { findPointFor } from '../../src/main/restoring.ts'
import { freshVault, removeVault, roomOf, takePoint } from '../harness/backups.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { digestOf } from '../harness/inspection.ts'
import { withPartsOf } from '../harness/moving.ts'
import { grant } from '../harness/people.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'

after(closeConnections)

/** What tells of more than a repository, and what a repository leaves behind when it is brought back. */
const leftBehind =
  /upload|job|promotion|deleted|grant|policy|usage|cleanup|events|changes\b|references|search|locks|upstream|immutable|content$/i

/** Ids of things; not those of people. */
const uuid = /(?<!account:)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Where the next page begins, only the list knows; how long things are kept is a setting of each repository. */
const essence = (text: string): string => text.replaceAll(/"(?:next|keptUntil)":"[^"]*"/g, '')

/** An audit names what was deleted as well, which stays behind: there no name may stand instead. */
const withoutNamesOfDeleted = (then: string, now: string): string => {
  const name = /"artifactName":(null|"[^"]*")/g
  const names = [...now.matchAll(name)].map(([, said]) => said)
  let at = 0
  return then.replaceAll(name, (same) => (names[at++] === 'null' ? '"artifactName":null' : same))
}

forEachEngine((engine) => {
  describe('a repository that is brought back beside the living one', () => {
    let rich: RichCatalog
    let vault: string
    let point: string
    const large = randomBytes(3_000_000)

    before(async () => {
      rich = await openRichCatalog(engine)
      vault = await freshVault(engine)
      await rich.catalog.expect({ method: 'PUT', path: '/raw/large.bin', body: large }, 201)
      const job = await takePoint(rich.catalog.service, vault)
      assert.deepEqual([job.state, job.error_code], ['completed', null])
      point = String(job.point_id)
    })
    after(async () => {
      await rich.catalog.close()
      await removeVault(vault)
    })

    const bring = (target: string, reach?: () => void) =>
      withPartsOf(
        rich.catalog.service,
        async (engines) => {
          const room = await roomOf(vault)
          const actor = unasked({ actor: 'operator', clientAddress: 'command line' })
          const deps = { ...engines.settings, ...engines, room, actor, told: () => {} }
          return await restoreRepository(deps, await findPointFor(room, point), { source: 'one', target })
        },
        reach,
      )
    const there = (text: string, target: string): string =>
      text.replaceAll(uuid, (id) => idIn(target, point, id)).replaceAll(/(?<=["/])one(?=["/])/g, target)

    it('goes on where it broke off, and then is all there, with ids of its own', async () => {
      let reached = 0
      const broken = bring('back', () => {
        if (++reached === 6) throw new Error('the process died')
      })
      await assert.rejects(broken, /the process died/)
      const { files, bytes } = await bring('back')
      assert.ok(files > 10 && bytes > large.byteLength, `${files} files, ${bytes} bytes`)
      await rich.catalog.inspection.inOrder()
    })

    it('is nobody’s but the administrators’, and is refused where the id is taken', async () => {
      const path = '/api/v1/repositories/back/raw/large.bin'
      const told = await rich.catalog.service.ask({ path, credential: rich.catalog.writer.token })
      assert.equal(told.status, 404)
      for (const taken of ['back', 'two']) await assert.rejects(bring(taken), { code: 'already_exists' })
    })

    it('answers as it did, and each file has its bytes', async () => {
      const { service } = rich.catalog
      await grant(service, rich.catalog.writer, 'back', 'write')
      let compared = 0
      for (const [id, asked] of Object.entries(rich.questions))
        for (const each of asked) {
          if (!each.path.includes('/repositories/one/') || leftBehind.test(`${id} ${each.path}`)) continue
          const ask = (path: string) => service.ask({ ...each, path, credential: rich.catalog.writer.token })
          const then = await ask(each.path)
          // A writer may not ask everything.
          if (then.status !== 200) continue
          const now = await ask(there(each.path, 'back'))
          assert.equal(now.status, 200, `${id} ${each.path}`)
          const expected = withoutNamesOfDeleted(there(then.text, 'back'), now.text)
          assert.equal(essence(now.text), essence(expected), `${id} ${each.path}`)
          compared += 1
        }
      assert.ok(compared > 20, String(compared))
      const path = '/api/v1/repositories/back/raw/large.bin'
      const got = await service.ask({ path, credential: rich.catalog.writer.token })
      assert.ok(got.bytes.equals(large))
    })

    it('gives single files as well, by path, id and digest', async () => {
      const room = await roomOf(vault)
      const manifest = await findPointFor(room, point)
      for (const wanted of ['large.bin', digestOf(large), `sha256:${digestOf(large)}`]) {
        const file = await fileOfPoint(room, manifest, 'one', wanted)
        const found = await bytesOfDigest(room, manifest, file.digest)
        const bytes = Buffer.concat(await Array.fromAsync(found?.pieces() ?? []))
        assert.ok(bytes.equals(large), wanted)
      }
      const small = await fileOfPoint(room, manifest, 'one', 'notes/read me.txt')
      const bytes = await bytesOfDigest(room, manifest, small.digest)
      assert.equal(Buffer.concat(await Array.fromAsync(bytes?.pieces() ?? [])).toString(), 'third')
      await assert.rejects(fileOfPoint(room, manifest, 'two', 'large.bin'), { code: 'not_found' })
    })
  })
})
