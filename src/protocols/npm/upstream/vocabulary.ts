import Type from 'typebox'
import { ActorName, ByteCount, fields, nullable, Timestamp } from '../../../contract/schemas.ts'
import { npmNameMaxCharacters } from '../../../kernel/limits/npm.ts'
import {
  npmReservedMax,
  npmUpstreamFreshSecondsMax,
  npmUpstreamUrlMaxCharacters,
} from '../../../kernel/limits/npm-upstream.ts'

/** A name of a package, or one with `*` for any characters. */
export const Reserved = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: npmNameMaxCharacters,
    pattern: '^[@a-z0-9*][a-z0-9*._/-]*$',
    description: 'a name of a package, or one with * for any characters, such as @acme/*',
  }),
  { maxItems: npmReservedMax, uniqueItems: true },
)

export const UpstreamUrl = Type.String({
  minLength: 1,
  maxLength: npmUpstreamUrlMaxCharacters,
  description: 'the address of a registry, which begins with https://',
})

export const FreshSeconds = Type.Integer({ minimum: 0, maximum: npmUpstreamFreshSecondsMax })

export const NpmUpstream = fields({
  url: UpstreamUrl,
  reserved: Reserved,
  freshSeconds: FreshSeconds,
  savedAt: Timestamp,
  actor: Type.String(),
  actorName: ActorName,
})

/** Also such as nobody could publish any more. */
export const CachedName = Type.String({
  minLength: 1,
  maxLength: npmNameMaxCharacters,
  pattern: '^(?:@[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'the name of an npm package, such as app or @scope/app',
})

const Count = Type.Integer({ minimum: 0 })

export const CachedNpmPackage = fields({
  name: CachedName,
  url: Type.String({ description: 'the upstream that it is of' }),
  versions: Type.Integer({ minimum: 0, description: 'those that its document tells of; 0 where none is kept' }),
  leftOut: Type.Integer({ minimum: 0, description: 'those of the upstream that cannot be taken' }),
  tarballs: Count,
  tarballBytes: ByteCount,
  fetchedAt: Timestamp,
  checkedAt: Timestamp,
  failure: nullable(Type.String({ description: 'why the upstream was last asked in vain' })),
  failedAt: nullable(Timestamp),
})

export const CachedNpmVersion = fields({
  version: Type.String(),
  size: ByteCount,
  integrity: Type.String({ description: 'sha512- and Base64, as lock files have it' }),
  fetchedAt: Timestamp,
  actor: Type.String(),
  actorName: ActorName,
})
