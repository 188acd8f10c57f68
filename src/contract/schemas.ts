import Type, { type TProperties, type TSchema } from 'typebox'
import { assetPathMaxCharacters, mediaTypeMaxCharacters, pageDefault, pageMax } from '../kernel/limits/catalog.ts'
import { mediaTypeWanted } from '../kernel/media-types.ts'
import { patterns } from '../kernel/names.ts'
import { orders } from '../kernel/order.ts'

/** Words that many operations share. `description` finishes the sentence "must be …" of a validation message. */

/** An object with exactly these fields. */
export const fields = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/** The type is said so that comparing values is comparing strings: it takes `uniqueItems` from a square to a line. */
export const oneOf = <const T extends string[]>(values: readonly [...T]) => Type.Enum(values, { type: 'string' })

export const Uuid = Type.String({ pattern: patterns.uuid, description: 'a UUID' })

/** What an actor beside it is called now; null where nobody knows. */
export const ActorName = nullable(Type.String())

/** Whom and what a line of a security audit is about, each with what it is called now. */
export const NamedSubjects = Type.Array(
  fields({ kind: Type.String(), id: Type.String(), name: nullable(Type.String()) }),
)

export const Timestamp = Type.String({ description: 'an RFC 3339 date-time', format: 'date-time' })

/** Where a stretch of time begins or ends. */
export const PointInTime = Type.Optional(
  Type.String({ pattern: patterns.dateTime, description: 'an RFC 3339 date-time' }),
)

export const ByteCount = Type.String({
  pattern: patterns.byteCount,
  description: 'a count of bytes as a string of decimal digits, at most 9007199254740991',
})

export const Sequence = Type.String({
  pattern: patterns.sequence,
  description: 'a place in a journal as a string of at most 15 decimal digits',
})

export const Sha256Text = Type.String({ pattern: patterns.sha256, description: '64 lowercase hexadecimal digits' })

export const RepositoryId = Type.String({
  pattern: patterns.repositoryId,
  description: '1 to 64 lowercase letters, digits, _ or -, beginning with a letter or digit',
})

export const StageName = Type.String({
  pattern: patterns.stage,
  description: '1 to 32 lowercase letters, digits, _ . or -, beginning with a letter or digit',
})

/** Text for people: no control characters, no broken surrogates. Lengths count characters. */
export const text = (minLength: number, maxLength: number) =>
  Type.String({ minLength, maxLength, pattern: patterns.text, description: 'text without control characters' })

/** A path as the client wrote it; `pathFault` of the kernel says what is wrong with it. */
export const AssetPath = Type.String({ minLength: 1, maxLength: assetPathMaxCharacters })

/** What a file is said to be, as the client wrote it; `saidMediaType` of the kernel says whether it is one. */
export const MediaType = Type.String({
  maxLength: mediaTypeMaxCharacters,
  description: mediaTypeWanted,
})

export const IdempotencyKey = Type.String({
  pattern: patterns.idempotencyKey,
  description: '1 to 128 letters, digits, _ . : or -',
})

/** Newest first where people look at what happened last. */
export const OrderOfTime = Type.Optional(
  Type.Enum([...orders], {
    type: 'string',
    default: 'asc',
    description: '`asc` (oldest first) or `desc` (newest first)',
  }),
)

/** Cursors of lists by id and by sequence. Those of lists that begin with the newest are told apart from others. */
export const IdCursor = Type.String({
  pattern: patterns.idCursor,
  description: 'a UUID, or the next of a page before of the same order',
})

export const SequenceCursor = Type.String({
  pattern: patterns.sequenceCursor,
  description: 'a place in a journal as a string of at most 15 decimal digits, or the next of a page of the same order',
})

/** The cursor of a list that says nothing of what is in it. */
export const OpaqueCursor = Type.String({
  pattern: patterns.opaqueCursor,
  description: 'the next of a page before, of the same list',
})

export const pageLimit = Type.Optional(Type.Integer({ minimum: 1, maximum: pageMax, default: pageDefault }))

export const inRepository = fields({ repository: Type.String() })
