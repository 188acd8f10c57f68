import type { Migration } from '../migration.ts'
import { foundation } from './0001-foundation.ts'
import { personalTokens } from './0002-personal-tokens.ts'
import { serviceAccounts } from './0003-service-accounts.ts'
import { linkKeys } from './0004-link-keys.ts'

/** In order; `currentSchema` is the number of the last one. A released migration is never edited. */
export const migrations: readonly Migration[] = [foundation, personalTokens, serviceAccounts, linkKeys]
