import Type, { type Static } from 'typebox'
import { ByteCount, fields, nullable, oneOf, text } from '../../../contract/schemas.ts'
import { labelMaxCharacters } from '../../../kernel/limits/catalog.ts'
import {
  channelsMax,
  criticalPercentMax,
  criticalPercentMin,
  intervalMinutesMax,
  keepLastMax,
  minAgeHoursMax,
  protectedLabelsMax,
  warningPercentMax,
  warningPercentMin,
} from '../../../kernel/limits/lifecycle.ts'

const between = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum })
const Label = text(1, labelMaxCharacters)

export const ProtectedLabels = Type.Array(Label, { maxItems: protectedLabelsMax, uniqueItems: true })

/** What versions are counted together in. */
const groupings = ['package-channel', 'package', 'repository'] as const

/** A storage policy as it is sent and answered. What fields say of each other, `policyFault` checks. */
export const Policy = fields({
  enabled: Type.Boolean(),
  grouping: oneOf(groupings),
  keepLast: between(1, keepLastMax),
  channels: Type.Array(fields({ label: Label, keepLast: between(1, keepLastMax) }), { maxItems: channelsMax }),
  protectedLabels: ProtectedLabels,
  minAgeHours: between(0, minAgeHoursMax),
  intervalMinutes: between(1, intervalMinutesMax),
  quotaBytes: nullable(ByteCount),
  warningPercent: between(warningPercentMin, warningPercentMax),
  criticalPercent: between(criticalPercentMin, criticalPercentMax),
})
export type Policy = Static<typeof Policy>

/** What a policy says of the versions that are kept. */
export type KeepRules = Pick<Policy, 'grouping' | 'keepLast' | 'channels' | 'protectedLabels' | 'minAgeHours'>

/** What keeps an image whatever its age and number are, in the order in which it is told. */
export const imageBlockers = ['protected_label', 'immutable_tag', 'promotion_stage'] as const
/** The same of a version of an npm package: a tag that is at it keeps it. */
export const npmVersionBlockers = ['protected_label', 'dist_tag', 'promotion_stage'] as const
export type ImageBlocker = (typeof imageBlockers)[number]
export type NpmVersionBlocker = (typeof npmVersionBlockers)[number]
export type KeptBlocker = ImageBlocker | NpmVersionBlocker

/** What became of an image, or of an npm version, that a policy wanted deleted. */
export const keptOutcomes = ['deleted', 'partly', 'protected', 'not_eligible'] as const
export type KeptOutcome = (typeof keptOutcomes)[number]
