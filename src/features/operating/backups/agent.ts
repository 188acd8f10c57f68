import type { Database, Transaction } from '../../../database/database.ts'
import { DatabaseUnavailable } from '../../../database/unavailable.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { agentLeaseMs, backupJobsKeptMs, captureTriedEveryMs, vaultLookMs } from '../../../kernel/limits/backups.ts'
import { day } from '../../../kernel/units.ts'
import { BlobStoreUnavailable } from '../../../ports/blob-store.ts'
import { SpoolFull } from '../../../ports/spool.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import { giveBackLease, type LeaseDeps, renewLease, takeLease, tellOfVault } from './agent-lease.ts'
import type { CaptureDeps } from './capture.ts'
import { SourceDamaged } from './copy-blobs.ts'
import { BackupDamaged } from './data-files.ts'
import { forgetBackupJobs, lastBackupJobs, openBackupJobs, updateOpenBackupJob } from './jobs.queries.ts'
import { untilNow } from './keeping.ts'
import { findAgentRow } from './plan.queries.ts'
import { planRow, takeDueRun } from './plan.ts'
import { dueShare, lyingPoints } from './points.ts'
import { askForRetention, type BackupJob, enqueueBackup } from './requests.ts'
import { lookAtVault, type Useless } from './vault-look.ts'
import { ReadSoFar } from './verify.ts'
import { type Begun, type WorkDeps, work } from './work.ts'

export type AgentDeps = CaptureDeps & LeaseDeps

/** Does what is asked for and what the plan asks for, one thing at a time. */
export interface BackupAgent {
  /** Looks what there is to do, and does it. */
  look(): Promise<void>
  /** Lets go of what is at work, and of the lease. */
  stop(): Promise<void>
}

/** Thrown at what is at work when the agent is to stop, or another one has its place. */
class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** Thrown at a verify, between two files, when something else is to be done first. */
class GivesWay extends Error {
  override readonly name = 'GivesWay'
}

/** Captures in a row that found no end. Another one would not either. */
const interruptedMax = 3

export const createAgent = (deps: AgentDeps): BackupAgent => {
  const { database, clock, timers, report } = deps
  let stopping = false
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let vaultId: string | null = null
  let available = false
  const useless: Useless = new Map()
  /** The verify that gave way, and what it had read by then. */
  let begun: Begun | null = null
  /** Until when no other agent can have taken our place. */
  let oursUntilMs = Number.NEGATIVE_INFINITY

  const haveLease = async (ask: typeof takeLease): Promise<boolean> => {
    const askedAtMs = clock.now()
    if (!(await ask(deps))) return false
    oursUntilMs = askedAtMs + agentLeaseMs
    return true
  }

  /** Runs work, renewing the lease meanwhile; `tell` writes down how far it is, and whether it is still wanted. */
  const whileOurs = async <T>(tell: () => Promise<boolean>, run: (goOn: () => void) => Promise<T>): Promise<T> => {
    let lost = false
    const goOn = (): void => {
      // A database that was away for longer than the lease may have given it to another, and cannot say so.
      if (stopping || lost || clock.now() >= oursUntilMs)
        throw new Stopped('The backup agent was stopped, or another one has taken its place.')
    }
    let beating = true
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const beat = async (): Promise<void> => {
      while (beating) {
        await pauseUnless(timers, ended, agentLeaseMs / 5)
        if (!beating) return
        try {
          // What another one has taken over and given back is lost as well: it has ended what we were at.
          lost ||= !(await haveLease(renewLease)) || !(await tell())
        } catch (error) {
          // A database that is away for a moment may be back before the lease is over.
          report('The backup agent could not tell that it is there', error)
        }
      }
    }
    const beats = beat()
    try {
      return await run(goOn)
    } finally {
      beating = false
      end()
      await beats
    }
  }

  const lookAtIt = async (): Promise<void> => {
    // Also for a look that fails: the next one waits its time.
    lookedAtMs = clock.now()
    const found = await whileOurs(
      async () => true,
      (goOn) => lookAtVault({ database, clock, report, goOn }, deps.room, useless),
    ).catch((error: unknown) => {
      if (error instanceof Stopped || error instanceof DatabaseUnavailable) throw error
      report('The vault of backups does not answer', error)
      return null
    })
    available = found !== null
    if (found === null) return tellOfVault(deps, { ...(await lastKnown(database)), vault_available: 0 })
    vaultId = found.id
    await tellOfVault(deps, {
      vault_id: found.id,
      vault_available: 1,
      encrypted: deps.room.coding.encrypted ? 1 : 0,
      free_bytes: found.freeBytes,
      total_bytes: found.totalBytes,
    })
  }

  /** Runs a job to its end; one that gives way waits for its turn again. */
  const run = async (job: BackupJob): Promise<void> => {
    let othersFirst = false
    let done: Partial<BackupJob> = { state: 'running', started_at: timestamp(clock.now()) }
    if (!(await changeJob(database, job, done))) return
    const told: WorkDeps['told'] = ({ phase, bytes, blobs, bytesTotal, blobsTotal }, state) => {
      done = {
        ...done,
        ...(state === undefined ? {} : { state }),
        ...(phase === undefined ? {} : { phase }),
        ...(bytes === undefined ? {} : { bytes_copied: bytes }),
        ...(blobs === undefined ? {} : { blobs_copied: blobs }),
        ...(bytesTotal === undefined ? {} : { bytes_total: bytesTotal }),
        ...(blobsTotal === undefined ? {} : { blobs_total: blobsTotal }),
      }
    }
    const soFar = begun?.jobId === job.id ? begun : { jobId: job.id, begunMs: clock.now(), read: new ReadSoFar() }
    if (job.kind === 'verify') begun = null
    try {
      await whileOurs(
        async () => {
          if (job.kind === 'verify') othersFirst = await othersComeFirst(deps)
          return await changeJob(database, job, done)
        },
        (goOn) => {
          const goOnAlone = (): void => {
            goOn()
            if (othersFirst) throw new GivesWay('Something else is to be done before a verify.')
          }
          return claimed(deps.room, () => work({ ...deps, goOn: goOnAlone, told, progress: () => done }, job, soFar))
        },
      )
    } catch (error) {
      if (error instanceof GivesWay) {
        begun = soFar
        await changeJob(database, job, { ...done, state: 'queued', started_at: null })
        return
      }
      const stopped = error instanceof Stopped
      if (!stopped) report(`The backup job ${job.kind} failed`, error)
      await changeJob(database, job, {
        ...done,
        state: stopped ? 'interrupted' : 'failed',
        finished_at: timestamp(clock.now()),
        error_code: errorCodeOf(error),
      })
    }
  }

  const lookOnce = async (): Promise<void> => {
    if (stopping || !(await haveLease(takeLease))) return
    if (clock.now() - lookedAtMs >= vaultLookMs || clock.now() < lookedAtMs) await lookAtIt()
    await askForDue(deps, available ? vaultId : null)
    for (;;) {
      const job = stopping ? undefined : firstOf(await openBackupJobs(database.reader, 1_000))
      // The look may have taken long.
      if (job === undefined || !(await haveLease(takeLease))) return
      await run(job)
      if (!(await haveLease(takeLease))) return
      await lookAtIt()
      // Those that wait may take all night.
      await askForPoint(deps)
    }
  }

  return {
    async look() {
      try {
        await lookOnce()
      } catch (error) {
        if (!(error instanceof Stopped)) throw error
      }
    },

    async stop() {
      stopping = true
      await giveBackLease(deps)
    },
  }
}

/** What is done first: reading all of a vault may take days. */
const inOrder = ['capture', 'retention', 'verify'] as const

const firstOf = (open: readonly BackupJob[]): BackupJob | undefined =>
  inOrder.map((kind) => open.find((job) => job.kind === kind)).find((job) => job !== undefined)

/** Whether something is to be done before a verify goes on. */
const othersComeFirst = async (deps: AgentDeps): Promise<boolean> => {
  await askForPoint(deps)
  return firstOf(await openBackupJobs(deps.database.reader, 1_000))?.kind !== 'verify'
}

const claimed = async ({ vault }: AgentDeps['room'], run: () => Promise<void>): Promise<void> => {
  const claim = await vault.claim()
  if (claim === null) throw new VaultFailure('denied', vault.where, 'another process is writing there')
  try {
    await run()
  } finally {
    await claim[Symbol.asyncDispose]()
  }
}

const lastKnown = async (database: Database) => {
  const { vault_id, encrypted, free_bytes, total_bytes } = (await findAgentRow(database.reader)) ?? {
    vault_id: null,
    encrypted: 0 as const,
    free_bytes: null,
    total_bytes: null,
  }
  return { vault_id, encrypted, free_bytes, total_bytes }
}

const changeJob = (database: Database, { id }: BackupJob, to: Partial<BackupJob>): Promise<boolean> =>
  database.transaction((tx) => updateOpenBackupJob(tx, id, to))

/**
 * Asks for what time brings: what the plan says, what was interrupted or did not succeed, a share of the vault each
 * day.
 */
const askForDue = async ({ database, clock }: AgentDeps, vault: string | null): Promise<void> => {
  const nowMs = clock.now()
  const share = vault === null ? null : await dueShare(database.reader, vault, nowMs)
  const anyPoint = vault !== null && (await lyingPoints(database.reader, vault)).length > 0
  await database.transaction(
    async (tx) => {
      const open = await openBackupJobs(tx, 1_000)
      const isOpen = (kind: BackupJob['kind']): boolean => open.some((job) => job.kind === kind)
      await askForPointIn(tx, nowMs)
      if (anyPoint && share !== null && !isOpen('verify')) await enqueueBackup(tx, nowMs, 'verify', null, null)
      const [kept] = await lastBackupJobs(tx, 'retention', untilNow(nowMs), 1)
      if (anyPoint && (kept === undefined || Date.parse(kept.requested_at) < nowMs - day))
        await askForRetention(tx, nowMs)
      await forgetBackupJobs(tx, timestamp(nowMs - backupJobsKeptMs))
    },
    { durability: 'relaxed' },
  )
}

/** Asks for the point that the plan wants by now, or that was interrupted or did not succeed. */
const askForPoint = ({ database, clock }: AgentDeps): Promise<void> =>
  database.transaction((tx) => askForPointIn(tx, clock.now()), { durability: 'relaxed' })

const askForPointIn = async (tx: Transaction, nowMs: number): Promise<void> => {
  const due = await takeDueRun(tx, nowMs)
  const again =
    (await planRow(tx)).enabled === 1 &&
    isWorthAnother(await lastBackupJobs(tx, 'capture', untilNow(nowMs), interruptedMax), nowMs)
  const isOpen = (await openBackupJobs(tx, 1_000)).some(({ kind }) => kind === 'capture')
  if ((due || again) && !isOpen) await enqueueBackup(tx, nowMs, 'capture', null, null)
}

/** Whether the last captures, newest first, ended so that another one may end better, and before the next night. */
const isWorthAnother = (last: readonly BackupJob[], nowMs: number): boolean => {
  const [job] = last
  if (job === undefined) return false
  if (isInterrupted(job)) return !(last.length === interruptedMax && last.every(isInterrupted))
  return (
    job.state === 'failed' &&
    mayPass.has(job.error_code ?? '') &&
    Date.parse(job.finished_at ?? job.requested_at) <= nowMs - captureTriedEveryMs
  )
}

/** What is elsewhere at fault, and may be right again without anybody of here. */
const mayPass: ReadonlySet<string> = new Set([
  'vault_unreachable',
  'vault_missing',
  'vault_denied',
  'vault_full',
  'store_unavailable',
  'database_unavailable',
  'hold_lost',
  'spool_full',
])

const isInterrupted = ({ state }: BackupJob): boolean => state === 'interrupted'

/** Why a job failed, in a word. */
const errorCodeOf = (error: unknown): string => {
  if (error instanceof Stopped) return 'stopped'
  if (error instanceof SourceDamaged) return 'source_damaged'
  if (error instanceof SpoolFull) return 'spool_full'
  if (error instanceof VaultFailure) return `vault_${error.trouble}`
  if (error instanceof BackupDamaged) return `point_${error.code}`
  if (error instanceof DatabaseUnavailable) return 'database_unavailable'
  if (error instanceof BlobStoreUnavailable) return 'store_unavailable'
  return error instanceof Error && error.name === 'HoldLost' ? 'hold_lost' : 'internal'
}

const pauseUnless = async (timers: AgentDeps['timers'], ended: Promise<void>, ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = timers.after(ms, resolve)
  await Promise.race([promise, ended])
  stop()
}
