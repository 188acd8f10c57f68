import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Database } from '../../src/database/database.ts'
import { putRaw } from '../../src/features/transfers/raw/raw.ts'
import { toSha256 } from '../../src/kernel/digest.ts'
import { closeConnections } from '../harness/client.ts'
import { openConnection } from '../harness/connection.ts'
import { forEachEngine } from '../harness/engines.ts'
import { chunked, digestOf } from '../harness/inspection.ts'
import { maxObjectBytes, raw, rawPaths } from '../harness/raw-paths.ts'
import { transferDeps } from '../harness/transfer-deps.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

forEachEngine((engine) => {
  const site = rawPaths(engine)
  const { freshPath, put, get, leavesNoTrace } = site

  describe('writers at once', () => {
    const sixteen = Array.from({ length: 16 }, (_, index) => index)

    for (const how of ['a checksum', 'no checksum', 'no length'] as const)
      it(`with the same bytes and ${how} all succeed, and there is one revision`, async () => {
        for (let round = 0; round < 3; round++) {
          const path = freshPath()
          const body = `same ${path}`
          const told = await Promise.all(
            sixteen.map(() =>
              put(
                path,
                how === 'no length' ? chunked(body) : body,
                how === 'a checksum' ? { 'x-checksum-sha256': digestOf(body) } : {},
              ),
            ),
          )
          assert.deepEqual(told.map(({ status }) => status).sort(), [...sixteen.slice(1).map(() => 200), 201])
          const ids = new Set(told.map(({ json }) => `${json.artifact.id} ${json.revision}`))
          assert.equal(ids.size, 1)
          assert.equal((await get(path)).text, body)
          assert.equal((await history(path)).length, 1)
        }
        assert.deepEqual((await site.inspection.sums()).pending, 0)
        await site.inspection.inOrder()
      })

    const history = (path: string) =>
      site.inspection.database.reader
        .selectFrom('asset_revisions')
        .select(['revision', 'artifact_id'])
        .where('path', '=', path)
        .orderBy('revision')
        .execute()

    it('with different bytes make a chain of revisions; who was too late gets 409 revision_mismatch', async () => {
      for (let round = 0; round < 5; round++) {
        const path = freshPath()
        // Some send the same: whoever is told 200 or 201 is told about its own bytes.
        const bodies = sixteen.map((index) => `${path} ${round % 2 === 0 ? index : index % 3}`)
        const told = await Promise.all(bodies.map((body, index) => put(path, index % 2 === 0 ? body : chunked(body))))
        const won: { revision: number; artifact_id: string }[] = []
        for (const [index, { status, json, text }] of told.entries()) {
          if (status === 409) {
            assert.equal(json.code, 'revision_mismatch')
            continue
          }
          assert.ok(status === 200 || status === 201, text)
          assert.equal(json.artifact.sha256, digestOf(bodies[index] ?? ''))
          if (status === 201) won.push({ revision: json.revision, artifact_id: json.artifact.id })
        }
        won.sort((a, b) => a.revision - b.revision)
        assert.deepEqual(
          won.map(({ revision }) => revision),
          won.map((_, index) => index + 1),
        )
        assert.deepEqual(await history(path), won)
        assert.equal((await get(path)).headers['x-svc-artifact-id'], won.at(-1)?.artifact_id)
      }
      assert.equal((await site.inspection.sums()).pending, 0)
      assert.deepEqual(await site.inspection.staged(), [])
      await site.inspection.inOrder()
    })

    it('are told about their own bytes, also when others replace those before the answer is out', async () => {
      const path = freshPath()
      const { database, store } = site.inspection
      let transactions = 0
      // Another writer stores the same bytes before ours commits, and a third one other bytes right after that failed.
      const interrupted: Database = {
        get patient() {
          return this
        },
        engine: database.engine,
        reader: database.reader,
        snapshot: (work) => database.snapshot(work),
        listen: (listener) => database.listen(listener),
        settled: () => database.settled(),
        probe: () => database.probe(),
        async transaction(work, options) {
          const commits = ++transactions === 2
          if (commits) assert.equal((await put(path, 'same')).status, 201)
          try {
            return await database.transaction(work, options)
          } finally {
            if (commits) assert.equal((await put(path, 'other')).status, 201)
          }
        },
        [Symbol.asyncDispose]: async () => {},
      }
      const deps = transferDeps(site.service, { database: interrupted, store }, maxObjectBytes)
      const expects = { ifMatch: undefined, ifUnmodifiedSince: undefined }
      const said = { mediaType: null, declaredBytes: 4, digest: toSha256(digestOf('same')) }
      const file = { path, ...said, onlyNew: false, expects }
      const scope = { repository: 'releases', owner: `account:${site.owner.id}` }
      const told = await putRaw(deps, scope, { ...file, pieces: chunked('same') })
      assert.deepEqual([told.created, told.revision, told.artifact.sha256], [false, 1, digestOf('same')])
      assert.equal((await get(path)).text, 'other')
      await site.inspection.inOrder()
    })

    it('with If-None-Match: * have one winner, whatever their bytes', async () => {
      for (const body of [(_: number) => 'same', (index: number) => String(index)]) {
        const path = freshPath()
        const told = await Promise.all(sixteen.map((index) => put(path, body(index), { 'if-none-match': '*' })))
        const lost = told.filter(({ status }) => status === 409)
        assert.equal(told.filter(({ status }) => status === 201).length, 1)
        assert.equal(lost.length, 15)
        for (const { json } of lost) assert.equal(json.code, 'already_exists')
      }
      await site.inspection.inOrder()
    })
  })

  describe('a connection that is cut', () => {
    for (const [how, head, reserved] of [
      ['with a length', 'content-length: 50000', 50_000],
      ['in chunks', 'transfer-encoding: chunked', maxObjectBytes],
    ] as const)
      it(`frees its reservation and its place at once (${how})`, async () => {
        const path = freshPath()
        const { pending } = await site.inspection.sums()
        await leavesNoTrace(async () => {
          const connection = await openConnection(site.service.url)
          connection.send(
            `PUT ${raw}/${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${site.owner.token}\r\n${head}\r\n\r\n`,
          )
          // More than is gathered of a body that may turn out to be small.
          connection.send(how === 'in chunks' ? `5000\r\n${'x'.repeat(0x5000)}\r\n` : 'hello')
          await until('the room is reserved', async () => (await site.inspection.sums()).pending === pending + reserved)
          // An object store is sent nothing before there is enough of it.
          const inMemory = site.service.blobStoreUrl !== ''
          await until('its place is there', async () => inMemory || (await site.inspection.staged()).length === 1)
          connection.socket.destroy()
          await until('the room is free', async () => (await site.inspection.sums()).pending === pending)
          await until('its place is gone', async () => (await site.inspection.staged()).length === 0)
        })
        assert.equal((await get(path)).status, 404)
      })
  })
})
