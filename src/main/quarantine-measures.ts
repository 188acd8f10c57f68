import { inQuarantine } from '../content/checks/quarantine.ts'
import type { Database } from '../database/database.ts'
import type { Measure } from '../http/metrics/measures.ts'
import type { Clock } from '../kernel/clock.ts'

/** Bytes in the store that no row knows, as far as the upkeep has found them. */
export const quarantineMeasures = (database: Database, clock: Clock): Measure[] => {
  const gauge = (
    name: string,
    help: string,
    read: (sums: Awaited<ReturnType<typeof inQuarantine>>) => number,
  ): Measure => ({
    name,
    help: `${help}; NaN while the database is away.`,
    kind: 'gauge',
    ofAll: true,
    ofCatalog: true,
    read: () => inQuarantine({ database }).then(read, () => Number.NaN),
  })
  return [
    gauge('svc_quarantine_blobs', 'Files in the store that no row knows', ({ blobs }) => blobs),
    gauge('svc_quarantine_bytes', 'Bytes of these files', ({ bytes }) => bytes),
    gauge('svc_quarantine_age_seconds', 'Since when the first of them was seen; 0 for none', ({ since }) =>
      since === null ? 0 : Math.max(0, (clock.now() - Date.parse(since)) / 1000),
    ),
  ]
}
