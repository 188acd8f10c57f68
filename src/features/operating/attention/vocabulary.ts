import { warningCodes } from '../backups/vocabulary.ts'

/** What may need somebody, each in one word: of backups, of the service, of webhooks, of one's own tokens. */
export const needs = [...warningCodes, 'not_writable', 'jobs_failed', 'webhook_failing', 'token_ends_soon'] as const
export type Need = (typeof needs)[number]
