import type { Migration } from '../migration.ts'
import { foundation } from './0001-foundation.ts'

/** In order; `currentSchema` is the number of the last one. A released migration is never edited. */
export const migrations: readonly Migration[] = [foundation]
