import Type, { type Static } from 'typebox'
import {
  ByteCount,
  fields,
  IdCursor,
  nullable,
  oneOf,
  RepositoryId,
  Sha256Text,
  Timestamp,
  text,
  Uuid,
} from '../../../contract/schemas.ts'
import {
  artifactNameMaxCharacters,
  labelMaxCharacters,
  labelsMax,
  metadataEntriesMax,
  metadataValueMaxCharacters,
} from '../../../kernel/limits/catalog.ts'
import { patterns } from '../../../kernel/names.ts'

/** What an uploader says of a file: the descriptor of sessions and artifacts. */

export const Labels = Type.Array(text(1, labelMaxCharacters), { maxItems: labelsMax })

/** A word under which files are kept together. */
export const Collection = Type.String({
  pattern: patterns.collection,
  description: '1 to 64 letters, digits, _ . : or -',
})

export const Metadata = Type.Record(
  Type.String({ pattern: patterns.metadataKey }),
  text(0, metadataValueMaxCharacters),
  {
    maxProperties: metadataEntriesMax,
    additionalProperties: false,
  },
)

export const NewDescriptor = fields({
  name: text(1, artifactNameMaxCharacters),
  size: ByteCount,
  sha256: Sha256Text,
  labels: Type.Optional(Labels),
  metadata: Type.Optional(Metadata),
})
export type NewDescriptor = Static<typeof NewDescriptor>

const Descriptor = fields({
  name: text(1, artifactNameMaxCharacters),
  size: ByteCount,
  sha256: Sha256Text,
  labels: Labels,
  metadata: Metadata,
})

/** An upload session, and after it the artifact of the same id. */
export const ArtifactRecord = fields({
  id: Uuid,
  repository: RepositoryId,
  status: oneOf(['pending', 'available', 'cancelled'] as const),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  descriptor: Descriptor,
})
export type ArtifactRecord = Static<typeof ArtifactRecord>

export const ArtifactPage = fields({ items: Type.Array(ArtifactRecord, { maxItems: 100 }), next: nullable(IdCursor) })
