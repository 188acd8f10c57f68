import type { Transaction } from '../../../database/database.ts'

/**
 * Of backups: a pin that was set since the moment of the point is not known here, nor what was found damaged since. All
 * points are as if they had been found now; whoever brought the service back says which of them may go again.
 */
export const findEveryPoint = async (tx: Transaction, now: string): Promise<void> => {
  const found = { pinned: 1, found_at: now, missing_since: null } as const
  await tx.updateTable('backup_points').set(found).where('forgotten_at', 'is', null).execute()
}

/** Of webhooks, whoever delivered them: the next worker begins at once. */
export const endLeases = async (tx: Transaction): Promise<void> => {
  await tx.updateTable('webhooks').set({ holder: null, leased_until: null }).execute()
}
