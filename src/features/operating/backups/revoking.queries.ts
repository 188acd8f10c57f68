import type { Transaction } from '../../../database/database.ts'

/** Ends every session, token, service key and download link, as of now. */
export const revokeEverything = async (tx: Transaction, now: string): Promise<void> => {
  await tx.deleteFrom('sessions').execute()
  await tx.updateTable('personal_tokens').set({ revoked_at: now }).where('revoked_at', 'is', null).execute()
  await tx.updateTable('service_keys').set({ state: 'revoked' }).where('state', '<>', 'revoked').execute()
  await tx.deleteFrom('link_keys').execute()
}
