import type { Database, DatabaseLog } from '../database/database.ts'
import { type DatabaseSize, databaseSize } from '../database/size.queries.ts'
import type { Measure } from '../http/metrics/measures.ts'

/** How large the database is, and how things stand with its log where it is a file. */
export const databaseMeasures = (database: Database): readonly Measure[] => [
  size(database, 'svc_database_bytes', 'What the database takes on its disk', ({ bytes }) => bytes),
  size(
    database,
    'svc_database_free_bytes',
    'What rows that went have left in the file of the database for those that come; NaN on a server',
    ({ freeBytes }) => freeBytes ?? Number.NaN,
  ),
  ...logMeasures(database.log),
]

const size = (database: Database, name: string, help: string, read: (size: DatabaseSize) => number): Measure => ({
  name,
  help: `${help}; NaN while the database is away.`,
  kind: 'gauge',
  ofAll: true,
  read: () => databaseSize(database).then(read, () => Number.NaN),
})

const logMeasures = (log: DatabaseLog | undefined): readonly Measure[] =>
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
