import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { freshVault, removeVault, restoreTo, takePoint, withAgent } from '../harness/backups.ts'
import { type BusyPeople, startBusyPeople } from '../harness/busy.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { onPostgres, onSqlite, type TestEngine } from '../harness/engines.ts'
import { byEngine } from '../harness/kept-inline.ts'
import { type Place, placeLike } from '../harness/moving.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'
import { startService, type TestService } from '../harness/service.ts'

after(closeConnections)

/** What a point does not have: uploads under way, addresses, and what the agent of one database did. */
const ofTheProcess = new Set([
  ...['listOpenUploads', 'listOwnUploads', 'getFrontPage'],
  ...['getBackupStatus', 'listBackupJobs', 'listBackupPoints'],
])

/** What tells of all repositories is another thing while people are at work in one of them. */
const ofAllRepositories = new Set(['listAllRepositories', 'listRepositories', 'searchEverywhere'])

/** Headers that differ from one answer to the next. */
const ofTheAnswer = new Set(['date', 'x-request-id', 'request-id', 'connection', 'keep-alive'])

/** A journal that was restored goes on beyond what was told of the history before. */
const headOfChanges = /"head":"\d+"/g

/** Where an answer tells the address of the service, that of the one is as good as that of the other. */
const answerOf = ({ status, headers, bytes }: Told, { url }: Pick<TestService, 'url'>) => {
  const text = bytes.toString('latin1')
  const told = text.replaceAll(url, 'http://address').replace(headOfChanges, '"head":"of its history"')
  const names = told === text ? ofTheAnswer : new Set([...ofTheAnswer, 'content-length'])
  return { status, headers: Object.entries(headers).filter(([name]) => !names.has(name)), text: told }
}

/** Both ways between the two pairs of engines. */
const ways = (define: (from: TestEngine, to: TestEngine) => void): void => {
  onSqlite((sqlite) => onPostgres((postgres) => define(sqlite, postgres)))
  onPostgres((postgres) => onSqlite((sqlite) => define(postgres, sqlite)))
}

ways((from, to) => {
  describe(`a point of ${from.name} that is restored on ${to.name}`, () => {
    let rich: RichCatalog
    let vault: string
    let place: Place & AsyncDisposable
    let restored: TestService
    let answers: ReadonlyMap<Ask, ReturnType<typeof answerOf>>
    let people: BusyPeople
    const taken = { begunAt: 0, endedAt: 0 }

    const asked = async (service: TestService): Promise<typeof answers> => {
      const told = new Map<Ask, ReturnType<typeof answerOf>>()
      for (const [id, questions] of Object.entries(rich.questions))
        if (!ofTheProcess.has(id) && !ofAllRepositories.has(id))
          for (const each of questions) told.set(each, answerOf(await service.ask(each), service))
      return told
    }

    before(async () => {
      rich = await openRichCatalog(from)
      vault = await freshVault(from)
      const { service } = rich.catalog
      people = await startBusyPeople(service, 'busy')
      await people.more(20)
      taken.begunAt = performance.now()
      const job = await takePoint(service, vault)
      taken.endedAt = performance.now()
      assert.deepEqual([job.state, job.error_code], ['completed', null])
      await people.more(20)
      await people.goHome()
      answers = await asked(service)
      place = await placeLike(service, to)
      // Its disk is gone.
      await rich.catalog.close()
      const { findings } = await restoreTo(place, vault)
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
      restored = await startService(to, { on: place, settings: byEngine(to), roles: { gateway: 'api', worker: false } })
    })
    after(async () => {
      await restored.stop()
      await place[Symbol.asyncDispose]()
      await removeVault(vault)
    })

    it('answers byte for byte as it was at that moment, to the same credentials', async () => {
      assert.ok(answers.size > 100, `${answers.size} answers`)
      for (const [each, now] of await asked(restored))
        assert.deepEqual(now, answers.get(each), `${each.method ?? 'GET'} ${each.path}`)
    })

    it('has all that was acknowledged before, of people who were at work meanwhile, and nothing of later', async () => {
      const sure = await people.holdsOf(taken, (path) => restored.ask({ path, credential: people.credential }))
      assert.ok(sure >= 10, `${sure} files`)
    })

    it('goes on with the same vault, copying what is new alone', async () => {
      const credential = restored.recoveryKey
      // Made known by the look of an agent; pinned, since a plan keeps one of each day.
      await withAgent(restored, vault, (agent) => agent.look())
      const [first] = (await restored.ask({ path: '/api/v1/backup/points', credential })).json.items
      const pin = { method: 'PUT', path: `/api/v1/backup/points/${first.id}/pin`, credential, json: { pinned: true } }
      assert.equal((await restored.ask(pin)).json.pinned, true)
      const job = await takePoint(restored, vault)
      assert.deepEqual([job.state, job.error_code], ['completed', null])
      const { items } = (await restored.ask({ path: '/api/v1/backup/points', credential })).json
      assert.equal(items.length, 2)
      assert.ok(Number(items[0].newBytes) * 4 < Number(items[1].newBytes), JSON.stringify(items))
    })
  })
})
