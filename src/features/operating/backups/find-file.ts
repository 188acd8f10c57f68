import type { Row } from '../../../database/moving/rows.queries.ts'
import type { TableName } from '../../../database/moving/tables.ts'
import { isSha256, type Sha256, toSha256 } from '../../../kernel/digest.ts'
import { notFound } from '../../../kernel/failure.ts'
import type { Room } from './data-files.ts'
import type { Manifest } from './manifest.ts'
import { rowsOfPoint, tells } from './point-rows.ts'

/** A file as a point knows it. */
export interface FileOfPoint {
  readonly digest: Sha256
  readonly bytes: number
  /** What it may be called where it goes. */
  readonly name: string
}

/**
 * What somebody means by a word, in a repository of a point: a path, the id of a file, `name@version` of an npm
 * package, or a SHA-256, with or without `sha256:`, which also finds blobs of images and objects of LFS. 404 where
 * nothing is.
 */
export const fileOfPoint = async (
  room: Room,
  manifest: Manifest,
  repository: string,
  wanted: string,
): Promise<FileOfPoint> => {
  const first = async (table: TableName, value: string, is: (row: Row) => boolean): Promise<Row | null> => {
    for await (const row of rowsOfPoint(room, manifest, table, tells(value)))
      if (row['repository'] === repository && is(row)) return row
    return null
  }
  const described = ({ sha256, size, name }: Row, called = String(name)): FileOfPoint => ({
    digest: toSha256(String(sha256)),
    bytes: Number(size),
    name: called.split('/').at(-1) ?? called,
  })

  const path = await first('assets', wanted, (row) => row['path'] === wanted)
  const id = path === null ? wanted.toLowerCase() : String(path['artifact_id'])
  const file =
    (await first('artifacts', id, (row) => row['id'] === id)) ??
    (await first('deleted_artifacts', id, (row) => row['id'] === id && row['released_at'] === null))
  if (file !== null) return described(file, path === null ? String(file['name']) : wanted)

  const at = wanted.lastIndexOf('@')
  const [name, version] = [wanted.slice(0, at), wanted.slice(at + 1)]
  const npm =
    at > 0 ? await first('npm_versions', name, (row) => row['name'] === name && row['version'] === version) : null
  if (npm !== null) return described(npm, `${name.replace('/', '-')}-${version}.tgz`)

  const digest = wanted.toLowerCase().replace(/^sha256:/, '')
  const claim = isSha256(digest)
    ? await first('claims', digest, (row) => row['sha256'] === digest && row['state'] !== 'pending')
    : null
  if (claim === null) throw notFound('file in this repository at that moment')
  return described(claim, digest)
}
