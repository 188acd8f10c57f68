import { createHash } from 'node:crypto'
import type { Row } from '../../database/moving/rows.queries.ts'
import type { TableName } from '../../database/moving/tables.ts'
import { linesOf, rowIn } from '../../features/operating/backups/chunks.ts'
import type { Room } from '../../features/operating/backups/data-files.ts'
import type { Manifest } from '../../features/operating/backups/manifest.ts'
import { rowsOfPoint, tableOf, tells } from '../../features/operating/backups/point-rows.ts'
import { samplesOfEachKind } from '../../kernel/limits/backups.ts'

/** A request to a restored service, and the SHA-256 that its answer is to have. */
export interface Sample {
  readonly path: string
  readonly sha256: string
}

/** Some of each kind of thing that a point has, spread over all of them. */
export async function* samplesOf(room: Room, manifest: Manifest): AsyncGenerator<Sample> {
  for (const [table, sampleOf] of kinds)
    for await (const row of spread(room, manifest, table)) {
      const sample = await sampleOf(row, (of, id) => rowById(room, manifest, of, id))
      if (sample !== null) yield sample
    }
}

type Find = (table: TableName, id: string) => Promise<Row | null>

const each = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

const kinds: readonly (readonly [TableName, (row: Row, find: Find) => Promise<Sample | null> | Sample | null])[] = [
  [
    'assets',
    async ({ repository, path, artifact_id }, find) => {
      const file = await find('artifacts', String(artifact_id))
      const where = `/api/v1/repositories/${repository}/raw/${each(String(path))}`
      return file === null ? null : { path: where, sha256: String(file['sha256']) }
    },
  ],
  [
    'artifacts',
    ({ repository, id, sha256 }) => ({
      path: `/api/v1/repositories/${repository}/artifacts/${id}/content`,
      sha256: String(sha256),
    }),
  ],
  [
    'oci_manifests',
    ({ repository, name, digest }) => ({
      path: `/v2/${repository}/${name}/manifests/${digest}`,
      sha256: String(digest).slice('sha256:'.length),
    }),
  ],
  [
    'oci_blobs',
    ({ repository, sent_below, sha256 }) =>
      sent_below === null
        ? null
        : { path: `/v2/${repository}/${sent_below}/blobs/sha256:${sha256}`, sha256: String(sha256) },
  ],
  [
    'oci_tags',
    async ({ repository, name, tag, manifest_id }, find) => {
      const manifest = await find('oci_manifests', String(manifest_id))
      if (manifest === null) return null
      const sha256 = String(manifest['digest']).slice('sha256:'.length)
      return { path: `/v2/${repository}/${name}/manifests/${tag}`, sha256 }
    },
  ],
  [
    'npm_versions',
    ({ repository, name, version, sha256, deleted_at }) => {
      if (deleted_at !== null) return null
      const file = `${String(name).split('/').at(-1)}-${version}.tgz`
      return { path: `/npm/${repository}/${name}/-/${file}`, sha256: String(sha256) }
    },
  ],
  [
    'lfs_objects',
    ({ repository, sha256, deleted_at }) =>
      deleted_at === null ? { path: `/lfs/${repository}/objects/${sha256}/content`, sha256: String(sha256) } : null,
  ],
]

/** Rows from as many places of a table as are wanted. */
async function* spread(room: Room, manifest: Manifest, name: TableName): AsyncGenerator<Row> {
  const { chunks, columns } = tableOf(manifest, name)
  const step = Math.max(1, Math.floor(chunks.length / samplesOfEachKind))
  const some = chunks.filter((_, index) => index % step === 0).slice(0, samplesOfEachKind)
  for (const chunk of some) {
    const lines = await linesOf(room, chunk)
    const ofEach = Math.min(lines.length, Math.max(1, Math.floor(samplesOfEachKind / some.length)))
    for (let taken = 0; taken < ofEach; taken++) {
      const line = lines[Math.floor((lines.length * taken) / ofEach)]
      if (line !== undefined) yield rowIn(chunk, line, columns)
    }
  }
}

const rowById = async (room: Room, manifest: Manifest, table: TableName, id: string): Promise<Row | null> => {
  for await (const row of rowsOfPoint(room, manifest, table, tells(id))) if (row['id'] === id) return row
  return null
}

/** Whether an answer is what a sample says, in words; null where it is. */
export const faultOf = async ({ path, sha256 }: Sample, address: string, secret: string): Promise<string | null> => {
  const answer = await fetch(address + path, {
    headers: { authorization: `Bearer ${secret}`, accept: '*/*' },
    redirect: 'error',
  })
  const hash = createHash('sha256')
  for await (const piece of answer.body ?? []) hash.update(piece)
  if (answer.status !== 200) return `GET ${path} is answered with ${answer.status}`
  const found = hash.digest('hex')
  return found === sha256 ? null : `GET ${path} answers bytes with the SHA-256 ${found} instead of ${sha256}`
}
