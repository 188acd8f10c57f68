import type { Database, Queries, Transaction } from '../../../database/database.ts'
import type { BackupPlanTable } from '../../../database/tables/backups.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure, invalid } from '../../../kernel/failure.ts'
import { isOfFuture, isTimezone, nextRunMs } from './keeping.ts'
import { countPlanFrom, findPlanRow, lockPlanRow, writePlanRow } from './plan.queries.ts'
import { planView } from './views.ts'
import type { Plan } from './vocabulary.ts'

/** What nobody has changed yet: off, at two in the night. */
const planAtFirst: BackupPlanTable = {
  id: 1,
  revision: 0,
  enabled: 0,
  hour: 2,
  minute: 0,
  timezone: 'UTC',
  daily: 7,
  weekly: 4,
  monthly: 6,
  counted_from: '',
}

export const planRow = async (q: Queries): Promise<BackupPlanTable> => (await findPlanRow(q)) ?? planAtFirst

export const readPlan = async (q: Queries): Promise<Plan> => planView(await planRow(q))

/** Replaces the plan. 409 `revision_mismatch` unless it is the one that was read. */
export const savePlan = async (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { expectedRevision, ...wanted }: Omit<Plan, 'revision'> & { readonly expectedRevision: number },
  actor: Actor,
): Promise<Plan> => {
  if (!isTimezone(wanted.timezone)) throw invalid('/timezone', 'must be a name of a time zone, such as Europe/Berlin')
  return await changeAuthority(database, actor, async (tx) => {
    const { revision } = (await lockPlanRow(tx)) ?? planAtFirst
    if (revision !== expectedRevision)
      throw new Failure('revision_mismatch', `The plan has revision ${revision}; read it again.`)
    const row: BackupPlanTable = {
      id: 1,
      revision: revision + 1,
      enabled: wanted.enabled ? 1 : 0,
      hour: wanted.hour,
      minute: wanted.minute,
      timezone: wanted.timezone,
      ...wanted.retention,
      counted_from: timestamp(clock.now()),
    }
    await writePlanRow(tx, row)
    await appendSecurityAudit(tx, actor, {
      action: 'backup-plan.replace',
      subject: `backup-plan:${row.revision}`,
      occurredAt: row.counted_from,
    })
    return planView(row)
  })
}

/** When the plan asks for a point next; null while it does not. */
export const nextRunOf = (plan: BackupPlanTable): number | null =>
  plan.enabled === 0 ? null : nextRunMs(plan, Date.parse(plan.counted_from))

/** Whether the plan asks for a point now. Several runs that nobody was there for count as one. */
export const takeDueRun = async (tx: Transaction, nowMs: number): Promise<boolean> => {
  const plan = await lockPlanRow(tx)
  const next = plan === undefined ? null : nextRunOf(plan)
  if (plan === undefined || next === null) return false
  if (next > nowMs && !isOfFuture(plan.counted_from, nowMs)) return false
  await countPlanFrom(tx, timestamp(nowMs))
  return true
}
