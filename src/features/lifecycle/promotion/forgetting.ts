import type { Transaction } from '../../../database/database.ts'
import { forgetCopies } from './promotion.queries.ts'

/** To be called when the last trace of deleted files goes: none of them will be a copy again. */
export const forgetCopiesAmong = (tx: Transaction, ids: readonly string[]): Promise<void> => forgetCopies(tx, ids)
