import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { spoolsIn } from '../../adapters/files/spool.ts'
import { type BackupAgent, createAgent } from '../../features/operating/backups/agent.ts'
import { startReconciler } from '../../jobs/reconciler.ts'
import { agentLookMs } from '../../kernel/limits/backups.ts'
import { second } from '../../kernel/units.ts'
import { openBackupRoom } from '../backup-vault.ts'
import type { Engines } from '../engines.ts'
import { monthlyRehearsal } from '../rehearsing/monthly.ts'
import { programVersion } from '../version.ts'

/** The agent that takes backups; none where the settings name no vault. */
export const startAgent = (engines: Engines): { stop(): Promise<void> } => {
  const { settings, report } = engines
  if (settings.backupVault === null) return { stop: async () => {} }
  let agent: BackupAgent | null = null
  const rehearsal = monthlyRehearsal(engines)
  const reconciler = startReconciler({
    name: 'the backup agent',
    everyMs: agentLookMs,
    report,
    run: async () => {
      agent ??= await agentOf(engines)
      await agent.look()
      await rehearsal.look()
    },
  })
  return {
    async stop() {
      const stopped = [rehearsal.stop(), agent?.stop()]
      await reconciler.stop()
      await Promise.all(stopped)
    },
  }
}

/** An agent on the vault that the settings name. */
export const agentOf = async (engines: Engines): Promise<BackupAgent> =>
  createAgent({
    ...engines,
    database: engines.database.patient,
    room: await openBackupRoom(engines.settings, { writes: true }),
    spool: spoolsIn(engines.settings.dataDir, engines.settings.freeSpaceReserveBytes),
    holder: randomUUID(),
    program: programVersion(),
    pace: paceOf(engines.settings.backupBytesPerSecond),
  })

/** Waits so that no more than so many bytes are read a second. */
const paceOf = (bytesPerSecond: number | null): ((bytes: number) => Promise<void>) => {
  if (bytesPerSecond === null) return async () => {}
  let freeAtMs = 0
  return async (bytes) => {
    const nowMs = performance.now()
    freeAtMs = Math.max(freeAtMs, nowMs) + (bytes / bytesPerSecond) * second
    // A pause below the hand of a clock is none.
    if (freeAtMs - nowMs > 20) await pause(freeAtMs - nowMs)
  }
}
