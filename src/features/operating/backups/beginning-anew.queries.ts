import type { Transaction } from '../../../database/database.ts'

/**
 * Of backups: a pin that was set since the moment of the point is not known here. Whoever brought the service back says
 * which of them may go again.
 */
export const pinEveryPoint = async (tx: Transaction): Promise<void> => {
  await tx.updateTable('backup_points').set({ pinned: 1 }).where('forgotten_at', 'is', null).execute()
}

/** Of webhooks, whoever delivered them: the next worker begins at once. */
export const endLeases = async (tx: Transaction): Promise<void> => {
  await tx.updateTable('webhooks').set({ holder: null, leased_until: null }).execute()
}
