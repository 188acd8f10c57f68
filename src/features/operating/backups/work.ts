import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { type CaptureDeps, type CaptureProgress, capture } from './capture.ts'
import { BackupDamaged } from './data-files.ts'
import { holdsIn, isTakenOutRead } from './holding.ts'
import { vaultIdentity } from './identity.ts'
import { updateOpenBackupJob, updateVerifiesAskedFor } from './jobs.queries.ts'
import { isOfFuture } from './keeping.ts'
import { pointName } from './layout.ts'
import { damagedFiles, findPoint, noteDamage } from './points.queries.ts'
import { dueShare, letGo, lyingPoints, noteShareRead, noteTakenOut, noteVerified, recordPoint } from './points.ts'
import { askForRetention, type BackupJob } from './requests.ts'
import { Structure } from './structure.ts'
import { forgetPoints, removeAllowed, sweep } from './sweep.ts'
import { type ReadSoFar, verifyDeep, verifyShare } from './verify.ts'

export interface WorkDeps extends CaptureDeps {
  /** Throws where the agent is to stop, or is not the one any more. */
  readonly goOn: () => void
  readonly told: (progress: Partial<CaptureProgress>, state?: 'committing') => void
  /** What was told so far, as it stands in the row of the job. */
  readonly progress: () => Partial<BackupJob>
}

/** A verify that was begun: it may have given way since, and goes on behind what it has read. */
export interface Begun {
  readonly jobId: string
  readonly begunMs: number
  readonly read: ReadSoFar
}

/** Does what a job asks for. Returns once it is done, and its row says so. */
export const work = async (deps: WorkDeps, job: BackupJob, begun: Begun): Promise<void> => {
  switch (job.kind) {
    case 'capture':
      return await takePoint(deps, job)
    case 'verify':
      return await verify(deps, job, begun)
    case 'retention':
      return await keepPlan(deps, job)
  }
}

const endJob = ({ database, clock, progress }: WorkDeps, job: BackupJob): Promise<boolean> =>
  database.transaction((tx) => updateOpenBackupJob(tx, job.id, { ...progress(), ...completed(clock) }))

const completed = (clock: WorkDeps['clock']): Partial<BackupJob> => ({
  state: 'completed',
  phase: null,
  finished_at: timestamp(clock.now()),
})

/** A capture bears the id of its job, so that there is one point to each, whoever dies when. */
const takePoint = async (deps: WorkDeps, job: BackupJob): Promise<void> => {
  const { database, room, clock, goOn, told } = deps
  const vault = await vaultIdentity(room.vault)
  const points = vault === null ? [] : await lyingPoints(database.reader, vault)
  const damaged = new Set(vault === null ? [] : await damagedFiles(database.reader, vault))
  const content = await capture(deps, {
    id: job.id,
    // One of a clock that was ahead may be older than what came since.
    before: (points.find(({ snapshot_at }) => !isOfFuture(snapshot_at, clock.now())) ?? points[0])?.id ?? null,
    isDamaged: (name: VaultName) => damaged.has(name),
    goOn,
    told: (progress) => told(progress, progress.phase === 'manifest' ? 'committing' : undefined),
  })
  const fault = await new Structure(room, goOn).faultOf(content.id)
  await database.transaction(async (tx) => {
    await recordPoint(tx, content)
    await noteVerified(tx, content.id, 'structural', fault, clock.now())
    const end = { ...deps.progress(), phase: null, finished_at: timestamp(clock.now()), point_id: content.id }
    const how =
      fault === null ? { state: 'completed' as const } : { state: 'failed' as const, error_code: `point_${fault}` }
    await updateOpenBackupJob(tx, job.id, { ...end, ...how })
    await askForRetention(tx, clock.now())
  })
  deps.reach('backup.recorded')
}

/** Reads every byte of a point, or the share of the day of the whole vault. */
const verify = async (deps: WorkDeps, job: BackupJob, { begunMs, read }: Begun): Promise<void> => {
  const { database, room, clock, goOn, told, pace } = deps
  const reading = { room, pace, goOn, told }
  const vault = await vaultIdentity(room.vault)
  if (vault === null) throw new Failure('not_found', 'The vault has no points.')
  if (job.point_id === null) {
    const share = await dueShare(database.reader, vault, begunMs)
    const ids = (await lyingPoints(database.reader, vault)).map(({ id }) => id)
    if (share !== null) await noteShareRead(deps, vault, share, begunMs, await verifyShare(reading, ids, share, read))
  } else {
    const id = job.point_id
    // Given up since, or of a vault that was replaced: that says nothing of the point.
    if ((await findPoint(database.reader, vault, id)) === undefined)
      throw new BackupDamaged('missing', pointName(id), '')
    const { fault, damaged } = await verifyDeep(reading, id, read)
    await database.transaction(async (tx) => {
      await noteDamage(tx, vault, damaged, timestamp(clock.now()))
      await noteVerified(tx, id, 'deep', fault?.code ?? null, clock.now())
      // Whoever asked for the same before it was begun is answered by it as well.
      await updateVerifiesAskedFor(tx, id, timestamp(begunMs), { ...deps.progress(), ...completed(clock) })
    })
  }
  await endJob(deps, job)
}

/** Forgets the points that the plan lets go, and removes what none of the others names. */
const keepPlan = async (deps: WorkDeps, job: BackupJob): Promise<void> => {
  const { database, room, clock, goOn, reach, report } = deps
  const vault = await vaultIdentity(room.vault)
  if (vault !== null) {
    const forgotten = await database.transaction((tx) => letGo(tx, vault, clock.now()))
    goOn()
    const { held, old } = await holdsIn(room.vault, clock.now(), goOn)
    const gone = await forgetPoints(
      room,
      forgotten.filter((id) => !held.has(id)),
    )
    await removeAllowed(room.vault, old)
    reach('retention.forgotten')
    await database.transaction((tx) => noteTakenOut(tx, gone, clock.now()))
    const isRead = await isTakenOutRead(room.vault, clock.now(), goOn)
    const swept = isRead ? 0 : await sweep({ room, nowMs: clock.now(), reach, goOn })
    const kept = forgotten.length - gone.length + swept
    if (kept > 0)
      report(
        'The vault of backups keeps what was to go',
        new VaultFailure('denied', room.vault.where, `${kept} files may not be removed yet`),
      )
  }
  await endJob(deps, job)
}
