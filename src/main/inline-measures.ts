import { type InlineSums, inlineSums } from '../content/settling/inline-sums.queries.ts'
import type { Database } from '../database/database.ts'
import type { Measure } from '../http/metrics/measures.ts'

/** Small files that are kept in the database, as far as the upkeep has counted them. */
export const inlineMeasures = ({ reader }: Database): Measure[] => {
  const gauge = (name: string, help: string, read: (sums: InlineSums) => number): Measure => ({
    name,
    help: `${help}, as the last look through all files counted them; NaN before the first one.`,
    kind: 'gauge',
    ofAll: true,
    read: () =>
      inlineSums(reader).then(
        (sums) => (sums === null ? Number.NaN : read(sums)),
        () => Number.NaN,
      ),
  })
  return [
    gauge('svc_inline_files', 'Small files that are kept in the database', ({ files }) => files),
    gauge('svc_inline_bytes', 'Bytes of these files', ({ bytes }) => bytes),
  ]
}
