import { hash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { fields, Timestamp, Uuid } from '../../../contract/schemas.ts'
import { backupManifestBytesMax } from '../../../kernel/limits/backups.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import { type Chunk, isChunk } from './chunks.ts'
import { BackupDamaged } from './data-files.ts'
import { pointName } from './layout.ts'
import { Rounds } from './rounds.ts'

const Name = Type.String({ pattern: '^[a-z_0-9]{1,64}$' })

/** Looked at one by one, once the rest has its form: there may be very many. */
const Chunks = Type.Unsafe<Chunk[]>({})

const BackedUpTable = fields({
  name: Name,
  columns: Type.Array(Name),
  rows: Type.Integer({ minimum: 0 }),
  chunks: Chunks,
})
export type BackedUpTable = Static<typeof BackedUpTable>

const Content = fields({
  format: Type.Literal('svc-backup'),
  formatVersion: Type.Literal(1),
  id: Uuid,
  vault: Uuid,
  /** Number of the last migration of the database. */
  schema: Type.Integer({ minimum: 1 }),
  /** Version of the program that wrote it. */
  program: Type.String(),
  /** The database that it is of. */
  source: Uuid,
  /** The moment that it shows. */
  snapshotAt: Timestamp,
  completedAt: Timestamp,
  encrypted: Type.Boolean(),
  /** In an order in which every row finds what it refers to. */
  tables: Type.Array(BackedUpTable),
  blobs: fields({ count: Type.Integer({ minimum: 0 }), bytes: Type.Integer({ minimum: 0 }) }),
  /** What was not in the vault before. */
  newBytes: Type.Integer({ minimum: 0 }),
  /** The list of the blobs, in the order of their digests. */
  contents: Chunks,
  /** Where the list is encrypted, the files that it names, for whoever has no key. */
  files: Chunks,
})
export type ManifestContent = Static<typeof Content>

const Seal = fields({ sha256: Type.String() })

export interface Manifest extends ManifestContent {
  /** Names this very point. */
  readonly digest: string
}

/** Two lines of JSON: what is in the point, and the digest of the first line, newline included. */
export const manifestText = (content: ManifestContent): string => {
  const first = `${JSON.stringify(content)}\n`
  return `${first}${JSON.stringify({ sha256: hash('sha256', first) })}\n`
}

/** The manifest of a point. Throws {@link BackupDamaged} where it is none, or not there. */
export const readManifest = async (vault: Pick<BackupVault, 'read'>, id: string): Promise<Manifest> => {
  const name = pointName(id)
  const bytes = await vault.read(name, backupManifestBytesMax).catch((error: unknown) => {
    if (error instanceof VaultFailure && error.trouble === 'damaged')
      throw new BackupDamaged('damaged', name, error.why)
    throw error
  })
  if (bytes === null) throw new BackupDamaged('missing', name, '')
  const end = bytes.indexOf(newline) + 1
  const digest = hash('sha256', bytes.subarray(0, end))
  const seal = parsed(bytes.subarray(end))
  if (!Value.Check(Seal, seal) || seal.sha256 !== digest)
    throw new BackupDamaged('damaged', name, 'its digest is not that of its content')
  const content = parsed(bytes.subarray(0, end))
  if (!Value.Check(Content, content) || !(await haveChunks(content)))
    throw new BackupDamaged('damaged', name, 'it has a form that this version of svc does not know')
  if (content.id !== id) throw new BackupDamaged('damaged', name, 'it is that of another point')
  return { ...content, digest }
}

const newline = 0x0a

const parsed = (text: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString())
  } catch {
    return null
  }
}

/** Whether its lists of chunks are such. */
const haveChunks = async ({ tables, contents, files }: ManifestContent): Promise<boolean> => {
  const rounds = new Rounds()
  for (const list of [...tables.map(({ chunks }) => chunks), contents, files]) {
    if (!Array.isArray(list)) return false
    for (const chunk of list) {
      await rounds.next()
      if (!isChunk(chunk)) return false
    }
  }
  return true
}

/** All chunks of a point. */
export const chunksOf = ({ tables, contents, files }: ManifestContent): Chunk[] => [
  ...tables.flatMap(({ chunks }) => chunks),
  ...contents,
  ...files,
]
