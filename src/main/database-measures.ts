import type { DatabaseLog } from '../database/database.ts'
import type { Measure } from '../http/metrics/measures.ts'

/** How things stand with the log of a database in a file. */
export const databaseMeasures = (log: DatabaseLog | undefined): readonly Measure[] =>
  log === undefined
    ? []
    : [
        {
          name: 'svc_database_log_bytes',
          help: 'Length of the write-ahead log of the database. It grows beyond some 40 MB only while an old state is read.',
          kind: 'gauge',
          ofAll: true,
          read: () => log.bytes(),
        },
        {
          name: 'svc_database_log_copied_timestamp_seconds',
          help: 'When all of the log was last in the database file, in seconds since the Unix epoch; 0 for never.',
          kind: 'gauge',
          ofAll: true,
          read: async () => (await log.lastCopiedMs()) / 1000,
        },
        {
          name: 'svc_database_log_copy_failures_total',
          help: 'Copies of the log into the database file that failed in this process and were tried again.',
          kind: 'counter',
          read: () => log.failures,
        },
      ]
