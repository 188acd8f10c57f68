import { hash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { fields, oneOf, Sha256Text, Timestamp, Uuid } from '../../../contract/schemas.ts'
import { invalid } from '../../../kernel/failure.ts'
import { exportManifestBytesMax } from '../../../kernel/limits/engines.ts'
import { type Vault, VaultFailure } from '../../../ports/vault.ts'
import { manifestName, markerName, pieceForm } from './layout.ts'

const Piece = fields({
  file: Type.String({ pattern: pieceForm }),
  rows: Type.Integer({ minimum: 1 }),
  sha256: Sha256Text,
})
export type Piece = Static<typeof Piece>

const Table = fields({
  name: Type.String({ pattern: '^[a-z_]{1,64}$' }),
  rows: Type.Integer({ minimum: 0 }),
  pieces: Type.Array(Piece),
})
export type ExportedTable = Static<typeof Table>

const Content = fields({
  format: Type.Literal('svc-export'),
  formatVersion: Type.Literal(1),
  /** Number of the last migration of the database. */
  schema: Type.Integer({ minimum: 1 }),
  /** Version of the program that wrote it. */
  program: Type.String(),
  source: Uuid,
  /** When its one state of the catalog was taken. */
  takenAt: Timestamp,
  bytes: oneOf(['included', 'left out']),
  blobs: fields({ count: Type.Integer({ minimum: 0 }), bytes: Type.Integer({ minimum: 0 }) }),
  /** In an order in which every row finds what it refers to. */
  tables: Type.Array(Table),
})
export type ManifestContent = Static<typeof Content>

/** What the last line of a manifest must be: it is about the lines before. */
const Seal = fields({ sha256: Sha256Text })

export interface Manifest extends ManifestContent {
  /** Names this very export. */
  readonly digest: string
}

const anew = 'copy it again, or make it anew with svc export --refresh where its database is'

/** Why a text is no manifest. */
class NoManifest extends Error {
  override readonly name = 'NoManifest'
}

/** Two lines of JSON: what is in the export, and the digest of the first line, newline included. */
export const manifestText = (content: ManifestContent): string => {
  const first = `${JSON.stringify(content)}\n`
  return `${first}${JSON.stringify({ sha256: hash('sha256', first) })}\n`
}

/** Throws {@link NoManifest} for what {@link manifestText} did not write. */
export const manifestOf = (text: string): Manifest => {
  const end = text.indexOf('\n') + 1
  const seal = parsed(text.slice(end))
  const digest = hash('sha256', text.slice(0, end))
  if (!Value.Check(Seal, seal) || seal.sha256 !== digest)
    throw new NoManifest(`its digest is not that of its content; ${anew}`)
  const content = parsed(text.slice(0, end))
  if (Value.Check(Content, content)) return { ...content, digest }
  const newer =
    typeof content === 'object' && content !== null && 'formatVersion' in content && content.formatVersion !== 1
  throw new NoManifest(
    newer ? 'it has a form that only a newer version of svc knows' : `it is not what svc export writes; ${anew}`,
  )
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw new NoManifest(`it is no JSON; ${anew}`)
  }
}

/** What a finished export in a vault consists of. 400 with the reason where there is none. */
export const manifestIn = async (vault: Vault): Promise<Manifest> => {
  try {
    const bytes = await vault.read(manifestName, exportManifestBytesMax)
    if (bytes !== null) return manifestOf(Buffer.from(bytes).toString())
  } catch (error) {
    if (error instanceof NoManifest) throw invalid(vault.whereIs(manifestName), `is damaged: ${error.message}`)
    if (error instanceof VaultFailure && error.trouble === 'damaged')
      throw invalid(vault.whereIs(manifestName), `is damaged: ${error.why}`)
    throw error
  }
  const begun = (await vault.size(markerName)) !== null
  throw invalid(vault.where, begun ? 'holds an export that is not finished; run svc export again' : 'holds no export')
}
