import Type, { type Static } from 'typebox'
import { nullable } from '../../../contract/schemas.ts'

export const Lock = Type.Object(
  {
    id: Type.String(),
    path: Type.String(),
    locked_at: Type.String({ description: 'an RFC 3339 date-time', format: 'date-time' }),
    owner: Type.Object({ name: Type.String() }, { additionalProperties: false }),
  },
  { additionalProperties: false },
)
export type Lock = Static<typeof Lock>

const next_cursor = Type.Optional(Type.String())

export const LockAnswer = Type.Object({ lock: Lock }, { additionalProperties: false })
export const LockList = Type.Object({ locks: Type.Array(Lock), next_cursor }, { additionalProperties: false })
export const VerifiedLocks = Type.Object(
  { ours: Type.Array(Lock), theirs: Type.Array(Lock), next_cursor },
  { additionalProperties: false },
)

/** Fields that are not known are passed over, as `ref` is: rights are those of the repository. */
const open = { additionalProperties: true }
export const LockRequest = Type.Object({ path: Type.String() }, open)
export const VerifyLocksRequest = Type.Object(
  { cursor: Type.Optional(nullable(Type.String())), limit: Type.Optional(nullable(Type.Integer())) },
  open,
)
export const UnlockRequest = Type.Object({ force: Type.Optional(nullable(Type.Boolean())) }, open)
