import type { Database } from '../../../database/database.ts'
import type { BackupAgentsTable } from '../../../database/tables/backups.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { agentLeaseMs } from '../../../kernel/limits/backups.ts'
import { interruptBackupJobs } from './jobs.queries.ts'
import { isOfFuture } from './keeping.ts'
import { insertAgentRow, lockAgentRow, updateAgentRow } from './plan.queries.ts'

export interface LeaseDeps {
  readonly database: Database
  readonly clock: Clock
  /** Names this agent. */
  readonly holder: string
  readonly program: string
}

/** How the agent found the vault. */
export type VaultFound = Pick<
  BackupAgentsTable,
  'vault_id' | 'vault_available' | 'encrypted' | 'free_bytes' | 'total_bytes'
>

/**
 * Tells that this agent is there, and answers whether it is the one that does the work: one at a time does, as long as
 * it renews its lease. Who takes the place of another ends what that one was at.
 */
export const takeLease = ({ database, clock, holder, program }: LeaseDeps): Promise<boolean> =>
  database.transaction(
    async (tx) => {
      const nowMs = clock.now()
      const now = timestamp(nowMs)
      const mine = { holder, lease_until: timestamp(nowMs + agentLeaseMs), last_seen_at: now, version: program }
      const row = await lockAgentRow(tx)
      if (row === undefined) {
        const found = { vault_id: null, vault_available: 0, encrypted: 0, free_bytes: null, total_bytes: null } as const
        await insertAgentRow(tx, { id: 1, ...mine, ...found })
        return true
      }
      const held = row.lease_until > now && !isOfFuture(row.lease_until, nowMs)
      if (row.holder !== holder && held) return false
      if (row.holder !== holder) await interruptBackupJobs(tx, now)
      return await updateAgentRow(tx, row.holder, mine)
    },
    { durability: 'relaxed' },
  )

/** Renews the lease of who is at work. False where another one has taken its place, also if that one has ended. */
export const renewLease = ({ database, clock, holder, program }: LeaseDeps): Promise<boolean> =>
  database.transaction(
    async (tx) => {
      const nowMs = clock.now()
      const until = timestamp(nowMs + agentLeaseMs)
      return await updateAgentRow(tx, holder, { lease_until: until, last_seen_at: timestamp(nowMs), version: program })
    },
    { durability: 'relaxed' },
  )

/** Ends the lease, so that another agent need not wait for its end. What was at work is over by then. */
export const giveBackLease = async ({ database, clock, holder }: LeaseDeps): Promise<void> => {
  await database.transaction((tx) => updateAgentRow(tx, holder, { lease_until: timestamp(clock.now()) }))
}

export const tellOfVault = async ({ database, holder }: LeaseDeps, found: VaultFound): Promise<void> => {
  await database.transaction((tx) => updateAgentRow(tx, holder, found), { durability: 'relaxed' })
}
