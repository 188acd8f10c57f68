import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { sqliteSnapshotsAtOnce } from '../../src/kernel/limits/engines.ts'
import { catalogue } from '../../src/main/catalogue.ts'
import { type Ask, closeConnections, type Told } from '../harness/client.ts'
import { onSqlite } from '../harness/engines.ts'
import { everyChange } from '../harness/every-change.ts'
import { type HeldLog, holdLogOf } from '../harness/held-log.ts'
import { signIn } from '../harness/people.ts'
import { openRichCatalog, type RichCatalog } from '../harness/rich-catalog.ts'
import { until } from '../harness/until.ts'

after(closeConnections)

/** They tell of the process, and have to while a disk does not answer. */
const ofTheProcess = [
  'getLiveness',
  'getHealthStatus',
  'getReadiness',
  'getMetrics',
  'getOverview',
  'listServiceSamples',
]

/** Uploads that are under way are nothing that a catalog has. */
const ofUploads = ['getBlobUpload', 'getLfsUpload']

/** They read a vault, of which the service here has none. */
const ofTheVault = ['getBackupPoint', 'listBackupPointContents']

/** It says a credential again that was just sent. */
const ofTheRequest = ['getRegistryToken']

/** Requests at once make one change between them, the first key to sign with, and so wait as one. */
const shared = ['createLink']

/** So many wait at once, for one sync: some of them in snapshots, of which there are no more. */
const together = sqliteSnapshotsAtOnce

/** PostgreSQL shows nothing before it is durable; SQLite shows a commit before its log is synced. */
onSqlite((engine) => {
  let log: HeldLog
  let rich: RichCatalog
  let changes: Readonly<Record<string, Ask>>
  before(async () => {
    log = holdLogOf(() => (rich === undefined ? '' : rich.catalog.service.databaseUrl.slice('sqlite:'.length)))
    rich = await openRichCatalog(engine)
    await rich.catalog.service.restart({ SVC_ALLOW_REGISTRATION: 'true' })
    changes = await everyChange(rich.catalog)
  })
  after(async () => {
    log.restore()
    await rich.catalog.close()
  })

  const ask = (asked: Ask): Promise<Told> => rich.catalog.service.ask(asked)

  /** An answer that is still to come. */
  interface Coming {
    readonly what: string
    readonly answer: Promise<Told>
    told: Told | null
  }

  /** Asks, and comes back when the answer waits for the disk, or came at once. */
  const asks = async (what: string, asked: Ask): Promise<Coming> => {
    const before = log.waits
    const answer = ask(asked)
    const coming: Coming = { what, answer, told: null }
    void answer.then((told) => {
      coming.told = told
    })
    await until(`${what} waits for the disk`, () => coming.told !== null || log.waits > before)
    return coming
  }

  let ticks = 0
  /** A change that nobody was told of, and that no disk holds. */
  const somethingUnsynced = (): Promise<Coming> => {
    const path = `${rich.catalog.base}/raw/tick`
    return asks('a change', {
      method: 'PUT',
      path,
      credential: rich.catalog.writer.token,
      body: `tick ${++ticks}`,
    })
  }

  /** Asks while the disk is held, and fails if any answer comes before it is let go; answers what came then. */
  const whileHeld = async (asking: () => Promise<Coming[]>): Promise<Told[]> => {
    log.hold()
    try {
      const coming = await asking()
      // What is to come at once has come when others were answered.
      for (let other = 0; other < 3; other++) await ask({ path: '/health/live' })
      for (const { what, told } of coming)
        assert.equal(told, null, `${what} was answered before what it may have seen was durable`)
      log.release()
      return await Promise.all(coming.map(({ answer }) => answer))
    } finally {
      log.release()
    }
  }

  it('is asked about by every operation', () => {
    const asked = [
      ...Object.keys(rich.questions),
      ...Object.keys(changes),
      ...ofTheProcess,
      ...ofUploads,
      ...ofTheVault,
      ...ofTheRequest,
    ]
    const declared = catalogue().map(({ id }) => id)
    assert.deepEqual(asked.sort(), declared.sort())
  })

  it('is waited for by every read that may have seen it', async () => {
    const all = Object.entries(rich.questions).flatMap(([id, asks]) => asks.map((asked) => ({ id, asked })))
    for (let from = 0; from < all.length; from += together) {
      const some = all.slice(from, from + together)
      const [, ...answers] = await whileHeld(async () => {
        const coming = [await somethingUnsynced()]
        for (const { id, asked } of some) coming.push(await asks(id, asked))
        return coming
      })
      for (const [index, { status, text }] of answers.entries()) assert.equal(status, 200, `${some[index]?.id} ${text}`)
    }
  })

  it('is waited for by every change, and by whoever asks for the same once more', async () => {
    for (const [id, asked] of Object.entries(changes)) {
      const [, told] = await whileHeld(async () => {
        const coming = [await somethingUnsynced(), await asks(id, asked)]
        return shared.includes(id) ? coming : [...coming, await asks(`${id}, once more,`, asked)]
      })
      assert.match(String(told?.status), /^20/, `${id} ${told?.text}`)
    }
  })

  it('is waited for by refusals that tell of it', async () => {
    const { catalog } = rich
    const id = await catalog.published('to be refused')
    const credential = catalog.writer.token
    const name = 'refused'
    const group = { path: '/api/v1/access-groups', credential: catalog.service.recoveryKey, json: { name } }
    const session = await signIn(catalog.service, catalog.reader.name)
    const removal = { method: 'DELETE', path: `${catalog.base}/artifacts/${id}`, credential: catalog.keeper }
    const pairs: [string, Ask, Ask, number][] = [
      ['a taken name', group, group, 409],
      [
        'a file that went',
        { ...removal, json: { expectedAnnotationRevision: 0 } },
        { path: `${catalog.base}/artifacts/${id}/content`, credential },
        404,
      ],
      [
        'a session that ended',
        { method: 'POST', path: '/api/v1/auth/logout', credential: session },
        { path: '/api/v1/auth/me', credential: session },
        401,
      ],
    ]
    for (const [what, change, question, status] of pairs) {
      const [done, told] = await whileHeld(async () => [await asks(what, change), await asks(what, question)])
      assert.match(String(done?.status), /^20/, done?.text ?? '')
      assert.equal(told?.status, status, told?.text ?? '')
    }
  })

  it('is not waited for by those who ask whether the service lives', async () => {
    const { healthKey } = rich.catalog.service
    const [change] = await whileHeld(async () => {
      const coming = await somethingUnsynced()
      for (const path of ['/health/live', '/health/status', '/health/ready', '/health/metrics']) {
        const told = await ask({ path, credential: healthKey })
        assert.equal(told.status, 200, path)
      }
      return [coming]
    })
    assert.equal(change?.status, 201)
  })
})
