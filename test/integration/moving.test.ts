import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { globSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { onPostgres, onSqlite, type TestEngine } from '../harness/engines.ts'
import { openInspection } from '../harness/inspection.ts'
import { byEngine } from '../harness/kept-inline.ts'
import { exportFrom, freshFolder, importTo, type Place, placeLike } from '../harness/moving.ts'
import { signIn } from '../harness/people.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

/** Reads that tell of the process rather than of the catalog. */
const ofTheProcess: Readonly<Record<string, string>> = {
  getHealthStatus: 'how long the process runs',
  getLiveness: 'the process',
  getMetrics: 'what the process did',
  getBackupPoint: 'a vault',
  listBackupPointContents: 'a vault',
  getBlobUpload: 'an upload that is under way',
  getLfsUpload: 'an upload that is under way',
  getOverview: 'how the process is',
  listServiceSamples: 'what the service had to do',
  collectNpmSignIn: 'a sign-in that is under way',
  getNpmSignInPage: 'a sign-in that is under way',
  getReadiness: 'the engines',
  getRegistryToken: 'a credential that was just sent',
}

/**
 * What they tell of does not move: an upload that is under way ends where it began, and an address stays where it is.
 */
const staysBehind: readonly string[] = ['listOpenUploads', 'listOwnUploads', 'getFrontPage']

/** Headers that differ from one answer to the next. */
const ofTheAnswer = new Set(['date', 'x-request-id', 'request-id', 'connection', 'keep-alive'])

/** Who moves where: both ways between the two pairs of engines. */
const moves = (define: (from: TestEngine, to: TestEngine) => void): void => {
  onSqlite((sqlite) => onPostgres((postgres) => define(sqlite, postgres)))
  onPostgres((postgres) => onSqlite((sqlite) => define(postgres, sqlite)))
}

/** Where an answer tells the address of the service, that of the one is as good as that of the other. */
const answerOf = ({ status, headers, bytes }: Told, { url }: Pick<TestService, 'url'>) => {
  const text = bytes.toString('latin1')
  const names = text.includes(url) ? new Set([...ofTheAnswer, 'content-length']) : ofTheAnswer
  return {
    status,
    headers: Object.entries(headers).filter(([name]) => !names.has(name)),
    text: text.replaceAll(url, 'http://address'),
  }
}

moves((from, to) => {
  describe(`a catalog that moves from ${from.name} to ${to.name}`, () => {
    let rich: RichCatalog
    let folder: string
    let place: Place & AsyncDisposable
    let moved: TestService
    const answers = new Map<Ask, ReturnType<typeof answerOf>>()

    before(async () => {
      rich = await openRichCatalog(from)
      folder = await freshFolder()
      for (const asked of Object.values(rich.questions).flat())
        answers.set(asked, answerOf(await rich.catalog.service.ask(asked), rich.catalog.service))
      await exportFrom(rich.catalog.service, folder)
      place = await placeLike(rich.catalog.service, to)
      const { findings } = await importTo(place, folder)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
      moved = await startService(to, { on: place, settings: byEngine(to), roles: { gateway: 'api', worker: false } })
    })
    after(async () => {
      await moved.stop()
      await rich.catalog.close()
      await place[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    })

    it('is asked about by every operation that reads', () => {
      const reads = catalogue().flatMap(({ id, method }) => (method === 'GET' ? [id] : []))
      const asked = [...Object.keys(rich.questions), ...Object.keys(ofTheProcess)]
      assert.deepEqual(asked.sort(), reads.sort())
    })

    it('gives the same credentials the same answers, byte for byte', async () => {
      for (const [id, questions] of Object.entries(rich.questions)) {
        assert.ok(questions.length > 0, id)
        if (staysBehind.includes(id)) continue
        for (const asked of questions) {
          const told = answerOf(await moved.ask(asked), moved)
          assert.equal(told.status, 200, `${id} ${asked.path} ${told.text}`)
          assert.deepEqual(told, answers.get(asked), `${id} ${asked.path}`)
        }
      }
    })

    it('is in order on both sides', async () => {
      await rich.catalog.inspection.inOrder()
      const inspection = await openInspection(moved)
      await inspection.inOrder()
      await inspection.close()
    })

    it('leaves uploads that are under way behind, with what they reserve', async () => {
      const credential = rich.catalog.writer.token
      for (const path of rich.pending) {
        assert.equal((await rich.catalog.service.ask({ path, credential })).status, 200)
        assert.equal((await moved.ask({ path, credential })).status, 404)
      }
      const inspection = await openInspection(moved)
      assert.equal((await inspection.sums()).pending, 0)
      await inspection.close()
    })

    it('goes on: people sign in, files are stored, and what was deleted comes back', async () => {
      const credential = await signIn(moved, 'writer')
      const restored = await moved.ask({
        method: 'POST',
        path: `${rich.catalog.base}/artifacts/${rich.deleted}/restore`,
        credential: rich.catalog.keeper,
      })
      assert.equal(restored.status, 200, restored.text)
      const content = { path: `${rich.catalog.base}/artifacts/${rich.deleted}/content`, credential }
      assert.equal((await moved.ask(content)).text, 'deleted content')
      const put = { method: 'PUT', path: `${rich.catalog.base}/raw/notes/read%20me.txt`, credential, body: 'fourth' }
      const told = await moved.ask(put)
      assert.equal(told.status, 201, told.text)
      assert.equal(told.json.revision, 4)
      const inspection = await openInspection(moved)
      await inspection.inOrder()
      // The bytes of the source are still there when the grace period is over, and reclaimed here as they would be
      // there.
      await inspection.upkeep()
      await inspection.inOrder()
      await inspection.close()
    })

    it('is in a folder that nobody else can read, without any secret', async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      for (const entry of entries) {
        const { mode } = await stat(join(entry.parentPath, entry.name))
        assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name)
      }
      const { catalog } = rich
      const texts = [await readFile(join(folder, 'manifest.json'), 'utf8')]
      for (const path of globSync(join(folder, 'tables/*')))
        texts.push(zstdDecompressSync(await readFile(path)).toString())
      assert.ok(
        texts.some((text) => text.includes(hash('sha256', catalog.keeper))),
        'digests of secrets are there',
      )
      const ticketSecret = await inDatabase(catalog.service, async (q) => {
        const { ticket_secret } = await q.selectFrom('download_queue').selectAll().executeTakeFirstOrThrow()
        return ticket_secret
      })
      for (const secret of [catalog.keeper, catalog.writer.token, catalog.service.recoveryKey, ticketSecret])
        assert.ok(!texts.some((text) => text.includes(secret)))
    })
  })
})
