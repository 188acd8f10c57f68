import type { Transaction } from '../../../database/database.ts'

/** Of webhooks, whoever delivered them: the next worker begins at once. */
export const endLeases = async (tx: Transaction): Promise<void> => {
  await tx.updateTable('webhooks').set({ holder: null, leased_until: null }).execute()
}
