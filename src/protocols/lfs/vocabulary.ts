import Type, { type Static } from 'typebox'
import { nullable, Sha256Text } from '../../contract/schemas.ts'
import { batchObjectsMax, batchTransfersMax } from '../../kernel/limits/lfs.ts'
import { patterns as namePatterns } from '../../kernel/names.ts'

/** Names the wire, and what its passes are good at. */
export const wireName = 'lfs'

export const lfsMediaType = 'application/vnd.git-lfs+json'

/** The words of the wire, as patterns for the `u` flag. */
export const patterns = { offset: '^[0-9]{1,15}$' } as const

/** What an object is called: the SHA-256 of its bytes. */
export const Oid = Sha256Text

const oid = new RegExp(namePatterns.sha256, 'u')
export const isOid = (text: string): boolean => oid.test(text)

/** Fields that are not known here are for others: they are passed over. */
const asked = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: true })

/** For which branch or tag: it is not looked at, since rights are those of the repository. */
const Ref = nullable(asked({ name: Type.Optional(nullable(Type.String())) }))

/** What is wrong with one object is told beside the others. */
const WantedObject = asked({ oid: Type.String(), size: Type.Number() })

export const BatchRequest = asked({
  operation: Type.Union([Type.Literal('upload'), Type.Literal('download')]),
  objects: Type.Array(WantedObject),
  transfers: Type.Optional(nullable(Type.Array(Type.String(), { maxItems: batchTransfersMax }))),
  hash_algo: Type.Optional(nullable(Type.String())),
  ref: Type.Optional(Ref),
})
export type BatchRequest = Static<typeof BatchRequest>

const Address = Type.Object(
  {
    href: Type.String(),
    header: Type.Optional(Type.Record(Type.String(), Type.String())),
    expires_in: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'seconds' })),
  },
  { additionalProperties: false },
)
export type Address = Static<typeof Address>

const BatchObject = Type.Object(
  {
    oid: Type.String(),
    size: Type.Number(),
    authenticated: Type.Optional(Type.Literal(true)),
    actions: Type.Optional(
      Type.Object(
        {
          download: Type.Optional(Address),
          upload: Type.Optional(Address),
          verify: Type.Optional(Address),
        },
        { additionalProperties: false },
      ),
    ),
    error: Type.Optional(
      Type.Object({ code: Type.Integer(), message: Type.String() }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
)
export type BatchObject = Static<typeof BatchObject>

export const BatchAnswer = Type.Object(
  {
    transfer: Type.Union([Type.Literal('basic'), Type.Literal('tus')]),
    objects: Type.Array(BatchObject, { maxItems: batchObjectsMax }),
    hash_algo: Type.Literal('sha256'),
  },
  { additionalProperties: false },
)
export type BatchAnswer = Static<typeof BatchAnswer>

export const VerifyRequest = asked({ oid: Type.String(), size: Type.Number() })
