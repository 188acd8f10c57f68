import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { forEachEngine } from '../../test/harness/engines.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { migrations } from '../database/migrations/index.ts'
import { openDatabase } from '../database/open.ts'
import { newId } from '../kernel/ids.ts'
import {
  jobAttemptsMax,
  jobFirstPauseMs,
  jobLeaseMs,
  openJobsMax,
  openJobsPerCallerMax,
} from '../kernel/limits/jobs.ts'
import { checkJobs } from './checks.ts'
import type { JobKind } from './enqueue.ts'
import { endJobOf, enqueue, type Job, readJob } from './enqueue.ts'
import { failAttempt, forgetJobs, leaseJob, renewLease } from './leases.ts'
import { runDueJobs } from './runner.ts'

forEachEngine((engine) => {
  const scene = async () => {
    const url = await engine.readyDatabaseUrl()
    const database: Database = engine.use(await openDatabase({ url, report: () => {} }))
    await migrate(database, migrations)
    let nowMs = Date.now()
    const clock = { now: () => nowMs }
    const deps = { database, clock, report: () => {} }
    const ask = (subject: string = newId(nowMs), owner = 'key:a'): Promise<Job> => {
      const wanted = { kind: 'completion', subject, repository: 'releases', owner, credentialId: null } as const
      return database.transaction((tx) => enqueue(tx, wanted, nowMs))
    }
    const read = async (id: string): Promise<Job> => (await readJob(database.reader, id)) ?? assert.fail('no such job')
    const lease = (holder = newId(nowMs)) => leaseJob(deps, 'completion', holder)
    const finish = (job: Job): Promise<void> =>
      database.transaction((tx) => endJobOf(tx, 'completion', job.subject, new Date(nowMs).toISOString(), null))
    /** Runs what is due once, as a worker does; `run` may throw. */
    const work = (run: (job: Job) => Promise<void> = finish, lastingly = false): Promise<void> => {
      const kind: JobKind<unknown> = {
        kind: 'completion',
        run: (_, job) => run(job),
        judge: () => ({ errorCode: 'wrong', lastingly }),
      }
      return runDueJobs(deps, kind, () => false)
    }
    const counted = async (): Promise<void> => assert.deepEqual(await Array.fromAsync(checkJobs(deps)), [])
    const pass = (ms: number): void => {
      nowMs += ms
    }
    return { parts: deps, database, ask, read, lease, finish, work, counted, pass }
  }
  const failing = (): Promise<void> => Promise.reject(new Error('no luck'))

  describe('a job', () => {
    it('is one per subject, however often it is asked for', async () => {
      const { ask, counted } = await scene()
      const first = await ask('subject')
      assert.deepEqual(await ask('subject'), first)
      assert.deepEqual([first.status, first.generation, first.attempts], ['queued', 0, 0])
      await counted()
    })

    it('is done once, and told of afterwards', async () => {
      const { ask, read, finish, work, counted } = await scene()
      const job = await ask()
      const done: string[] = []
      await work(async (running) => {
        assert.deepEqual([running.status, running.attempts], ['running', 1])
        done.push(running.id)
        await finish(running)
      })
      await work()
      assert.deepEqual(done, [job.id])
      const { status, error_code, ended_at } = await read(job.id)
      assert.deepEqual([status, error_code], ['completed', null])
      assert.notEqual(ended_at, null)
      await counted()
    })

    it('is tried five times with growing pauses, then fails; asked for again it begins anew', async () => {
      const { ask, read, work, pass, counted } = await scene()
      const job = await ask('subject')
      for (let attempt = 1; attempt <= jobAttemptsMax; attempt++) {
        await work(failing)
        assert.equal((await read(job.id)).attempts, attempt)
        const pauseMs = jobFirstPauseMs * 3 ** (attempt - 1)
        pass(pauseMs - 1)
        await work(() => assert.fail('too early'))
        pass(1)
      }
      const failed = await read(job.id)
      assert.deepEqual([failed.status, failed.error_code, failed.attempts], ['failed', 'wrong', jobAttemptsMax])
      await counted()
      const again = await ask('subject')
      assert.deepEqual([again.id, again.status, again.generation, again.attempts], [job.id, 'queued', 1, 0])
      await work()
      assert.equal((await read(job.id)).status, 'completed')
      await counted()
    })

    it('fails at once where trying again changes nothing, and stays failed', async () => {
      const { ask, read, work, counted } = await scene()
      const job = await ask('subject')
      await work(failing, true)
      const failed = await read(job.id)
      assert.deepEqual([failed.status, failed.attempts, failed.error_code], ['failed', 1, 'wrong'])
      assert.deepEqual(await ask('subject'), failed)
      await counted()
    })

    it('of a silent worker goes to another, and the silent one has no more say in it', async () => {
      const { parts: deps, ask, read, lease, pass } = await scene()
      const job = await ask()
      const mine = (await lease()) ?? assert.fail('nothing to lease')
      assert.equal(await lease(), undefined)
      pass(jobLeaseMs - 1)
      assert.equal(await renewLease(deps, mine), true)
      pass(jobLeaseMs - 1)
      assert.equal(await lease(), undefined)
      pass(1)
      const theirs = (await lease()) ?? assert.fail('nothing to lease')
      assert.deepEqual([theirs.id, theirs.attempts], [job.id, 2])
      assert.equal(await renewLease(deps, mine), false)
      await failAttempt(deps, mine, { errorCode: 'late', lastingly: true })
      assert.deepEqual([(await read(job.id)).status, (await read(job.id)).holder], ['running', theirs.holder])
    })

    it('that silences every worker is given up after five of them', async () => {
      const { ask, read, lease, pass, counted } = await scene()
      const job = await ask()
      for (let n = 0; n < jobAttemptsMax; n++) {
        assert.equal((await lease())?.id, job.id)
        pass(jobLeaseMs)
      }
      assert.equal(await lease(), undefined)
      const { status, error_code } = await read(job.id)
      assert.deepEqual([status, error_code], ['failed', 'interrupted'])
      await counted()
    })

    it('is shared out among workers: each is taken by one', async () => {
      const { ask, lease } = await scene()
      const jobs = await Promise.all(Array.from({ length: 20 }, () => ask()))
      const leased = await Promise.all(Array.from({ length: 30 }, () => lease()))
      const ids = leased.flatMap((job) => (job === undefined ? [] : [job.id]))
      assert.deepEqual(ids.toSorted(), jobs.map(({ id }) => id).toSorted())
    })

    it('is forgotten a week after it ended', async () => {
      const { parts: deps, ask, read, work, pass } = await scene()
      const job = await ask()
      await work()
      pass(7 * 86_400_000 - 1_000)
      await forgetJobs(deps)
      await read(job.id)
      pass(1_000)
      await forgetJobs(deps)
      assert.equal(await readJob(deps.database.reader, job.id), undefined)
    })
  })

  describe('open jobs', () => {
    it('are a hundred per caller at most, exactly, also when many ask at once', async () => {
      const { ask, work, counted } = await scene()
      const told = await Promise.allSettled(Array.from({ length: openJobsPerCallerMax + 10 }, () => ask()))
      assert.equal(told.filter(({ status }) => status === 'fulfilled').length, openJobsPerCallerMax)
      await assert.rejects(ask(), { code: 'queue_full' })
      await ask(undefined, 'key:b')
      await work()
      await ask()
      await counted()
    })

    it('are ten thousand per server at most', async () => {
      const { database, ask } = await scene()
      const set = (value: number) =>
        database.transaction((tx) =>
          tx.updateTable('counters').set({ value }).where('name', '=', 'open_jobs').execute(),
        )
      await set(openJobsMax - 1)
      await ask()
      await assert.rejects(ask(), { code: 'queue_full' })
    })
  })
})
