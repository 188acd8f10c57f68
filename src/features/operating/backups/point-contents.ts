import type { Database } from '../../../database/database.ts'
import type { Row, RowValue } from '../../../database/moving/rows.queries.ts'
import type { TableName } from '../../../database/moving/tables.ts'
import { invalid } from '../../../kernel/failure.ts'
import { contentChunksMax } from '../../../kernel/limits/backups.ts'
import { caseless } from '../../../kernel/names.ts'
import type { PointReader } from './point-reader.ts'
import { tableOf } from './point-rows.ts'
import { currentPoint } from './points.ts'
import type { ContentItem, contentKinds } from './vocabulary.ts'

interface ContentDeps {
  readonly database: Database
  readonly points: PointReader
}

export interface Sought {
  readonly repository: string | null
  readonly kind: ContentKind | null
  /** Part of a name, in either case. */
  readonly name: string | null
}

type ContentKind = (typeof contentKinds)[number]

interface Listed {
  readonly kind: ContentKind
  readonly table: TableName
  /** What a row says of it; null for one that clients did not see at the moment of the point. */
  show(row: Row): Omit<ContentItem, 'kind' | 'repository'> | null
}

const text = (value: RowValue | undefined): string | null => (typeof value === 'string' ? value : null)
const size = (value: RowValue | undefined): string | null => (typeof value === 'number' ? String(value) : null)
const named = ({ id, size: bytes, sha256 }: Row, name: string) => ({
  name,
  id: text(id),
  bytes: size(bytes),
  sha256: text(sha256),
})

/** The tables of what people call by a name, each in the order of its key. */
const listed: readonly Listed[] = [
  {
    kind: 'path',
    table: 'assets',
    show: ({ path, artifact_id }) => ({ name: String(path), id: text(artifact_id), bytes: null, sha256: null }),
  },
  { kind: 'artifact', table: 'artifacts', show: (row) => named(row, String(row['name'])) },
  {
    kind: 'image-tag',
    table: 'oci_tags',
    show: ({ name, tag, manifest_id }) => ({
      ...{ name: `${name}:${tag}`, id: text(manifest_id) },
      ...{ bytes: null, sha256: null },
    }),
  },
  {
    kind: 'image',
    table: 'oci_manifests',
    show: ({ name, digest, id, content_bytes }) => ({
      ...{ name: `${name}@${digest}`, id: text(id) },
      ...{ bytes: size(content_bytes), sha256: String(digest).slice('sha256:'.length) },
    }),
  },
  {
    kind: 'npm-version',
    table: 'npm_versions',
    show: (row) => (row['deleted_at'] === null ? named(row, `${row['name']}@${row['version']}`) : null),
  },
  {
    kind: 'lfs-object',
    table: 'lfs_objects',
    show: (row) => (row['deleted_at'] === null ? named(row, String(row['sha256'])) : null),
  },
]

/** Which table, which of its chunks, which line of it comes next. */
interface ContentPosition {
  readonly table: number
  readonly chunk: number
  readonly line: number
}

const contentPositionText = ({ table, chunk, line }: ContentPosition): string => `${table}.${chunk}.${line}`

const contentPositionIn = (cursor: string | undefined): ContentPosition => {
  if (cursor === undefined) return { table: 0, chunk: 0, line: 0 }
  const [table = 0, chunk = 0, line = 0] = cursor.split('.').map(Number)
  if (table >= listed.length) throw invalid('/query/after', 'must be the next of a page before')
  return { table, chunk, line }
}

/**
 * What a point holds by its names: a page, and where the next one begins. One request looks into so many chunks and no
 * more, so that a page may be short, or empty, though others follow.
 */
export const pointContents = async (
  { database, points }: ContentDeps,
  id: string,
  sought: Sought,
  after: string | undefined,
  limit: number,
): Promise<{ items: ContentItem[]; next: string | null }> => {
  await currentPoint(database.reader, id)
  const begin = contentPositionIn(after)
  const manifest = await points.manifest(id)
  const items: ContentItem[] = []
  let looked = 0
  for (let table = begin.table; table < listed.length; table++) {
    const of = listed[table]
    if (of === undefined || (sought.kind !== null && sought.kind !== of.kind)) continue
    const { chunks, columns } = tableOf(manifest, of.table)
    const first = table === begin.table ? begin.chunk : 0
    for (const [index, chunk] of chunks.slice(first).entries()) {
      const at = { table, chunk: first + index }
      if (looked++ >= contentChunksMax) return { items, next: contentPositionText({ ...at, line: 0 }) }
      const from = table === begin.table && at.chunk === begin.chunk ? begin.line : 0
      const lines = await points.lines(chunk)
      for (let line = from; line < lines.length; line++) {
        if (items.length >= limit) return { items, next: contentPositionText({ ...at, line }) }
        const item = itemOf(of, points.row(chunk, lines[line] ?? '', columns), sought)
        if (item !== null) items.push(item)
      }
    }
  }
  return { items, next: null }
}

const itemOf = (of: Listed, row: Row, { repository, name }: Sought): ContentItem | null => {
  if (repository !== null && row['repository'] !== repository) return null
  const shown = of.show(row)
  if (shown === null || (name !== null && !caseless(shown.name).includes(caseless(name)))) return null
  return { kind: of.kind, repository: String(row['repository']), ...shown }
}
