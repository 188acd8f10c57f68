import type { Transaction } from '../../database/database.ts'

/** Who did it, from where. */
export interface NamedActor {
  readonly actor: string
  readonly clientAddress: string
}

export interface SecurityEntry {
  /** `noun.verb`, such as `account.create`. */
  readonly action: string
  /** What it was done to, such as `account:<uuid>` or `group:<uuid> repository:<id>`. */
  readonly subject: string
  /** What the first of the subject is called, where its name may go with it. */
  readonly subjectName?: string
  /** Puts the row into the history of this service account too. */
  readonly serviceAccountId?: string
  readonly occurredAt: string
}

export const insertSecurityAuditRow = async (
  tx: Transaction,
  sequence: number,
  actor: NamedActor,
  entry: SecurityEntry,
): Promise<void> => {
  await tx
    .insertInto('security_audit')
    .values({
      sequence,
      occurred_at: entry.occurredAt,
      actor: actor.actor,
      action: entry.action,
      subject: entry.subject,
      client_address: actor.clientAddress,
      service_account_id: entry.serviceAccountId ?? null,
      subject_name: entry.subjectName ?? null,
    })
    .execute()
}
