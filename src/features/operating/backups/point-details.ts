import type { Database } from '../../../database/database.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { PointReader } from './point-reader.ts'
import { tableOf } from './point-rows.ts'
import { currentPoint } from './points.ts'
import { pointView } from './views.ts'
import type { PointDetails } from './vocabulary.ts'

interface DetailDeps {
  readonly database: Database
  readonly points: PointReader
}

/**
 * A point with its tables, and what each repository took at its moment. Both are null where they cannot be read now.
 */
export const pointDetails = async ({ database, points }: DetailDeps, id: string): Promise<PointDetails> => {
  const point = pointView(await currentPoint(database.reader, id))
  const manifest = await orNull(points.manifest(id))
  if (manifest === null) return { ...point, schema: null, program: null, tableSizes: null, repositories: null }
  const tableSizes = manifest.tables.map(({ name, rows, chunks }) => ({
    name,
    rows,
    storedBytes: String(chunks.reduce((sum, { stored }) => sum + stored.bytes, 0)),
  }))
  const { schema, program } = manifest
  const repositories = await orNull(repositoriesIn(points, tableOf(manifest, 'repositories')))
  return { ...point, schema, program, tableSizes, repositories }
}

const repositoriesIn = async (
  points: PointReader,
  { chunks, columns }: ReturnType<typeof tableOf>,
): Promise<NonNullable<PointDetails['repositories']>> => {
  const found: NonNullable<PointDetails['repositories']> = []
  for (const chunk of chunks)
    for (const line of await points.lines(chunk)) {
      const { id, deleted_at, published_bytes, retired_bytes } = points.row(chunk, line, columns)
      if (deleted_at !== null) continue
      const sizes = { publishedBytes: String(published_bytes), deletedBytes: String(retired_bytes) }
      found.push({ repository: String(id), ...sizes })
    }
  return found
}

/** Null for what cannot be read now: the vault is away, or something of the point is damaged or locked. */
const orNull = async <T>(reading: Promise<T>): Promise<T | null> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
