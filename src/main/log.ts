import pino, { type Logger } from 'pino'
import type { Settings } from './settings/rules.ts'

/** The log: one JSON line an event, on standard error. Secrets never get here: requests are logged by route and id alone. */
export const createLog = (level: Settings['logLevel']): Logger =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }))

export type { Logger }
