import type { Queries } from '../../database/database.ts'
import { appendedSegmentBytes } from '../../kernel/limits/transfers.ts'
import type { Segment } from '../../ports/blob-store.ts'
import { partPage } from './assembly.queries.ts'
import { type AssemblyDeps, partRows } from './assembly.ts'

/** How many bytes of so many lie in the segment of that index. */
const lengthOf = (index: number, storedBytes: number): number =>
  Math.min(appendedSegmentBytes, storedBytes - index * appendedSegmentBytes)

/** The segment that so many bytes end in, if it is not full; whoever appends writes it again. */
export const segmentAt = async (
  { database }: Pick<AssemblyDeps, 'database'>,
  claimId: string,
  storedBytes: number,
): Promise<Segment | null> => {
  const index = Math.floor(storedBytes / appendedSegmentBytes)
  if (storedBytes % appendedSegmentBytes === 0) return null
  const [row] = await partPage(database.reader, claimId, index, 1)
  if (row?.part_index !== index) throw new Error(`segment ${index} of ${claimId} is stored and has no row`)
  return { index, receipt: row.receipt, bytes: lengthOf(index, storedBytes) }
}

/** The segments of so many bytes in order, from an index on. */
export async function* segmentsOf(q: Queries, claimId: string, storedBytes: number, from = 0): AsyncGenerator<Segment> {
  for await (const { part_index: index, receipt } of partRows(q, claimId, from))
    yield { index, receipt, bytes: lengthOf(index, storedBytes) }
}
