import { day } from '../units.ts'

/** Bounds of deletion, restoring and storage policies. */

/** How long a deleted file is known by its id after its bytes stopped being reserved. */
export const deletedArtifactsKeptMs = 30 * day
export const graceHoursMax = 8_760
/** What stands in the way of a deletion is told up to here. */
export const blockersToldMax = 4 // spec
/** Storage policies. */
export const keepLastMax = 100_000 // spec
export const channelsMax = 32 // spec
export const protectedLabelsMax = 32 // spec
export const minAgeHoursMax = 87_600 // spec
export const intervalMinutesMax = 10_080 // spec
export const warningPercentMin = 1 // spec
export const warningPercentMax = 98 // spec
export const criticalPercentMin = 2 // spec
export const criticalPercentMax = 99 // spec
/** Shares of the quota from which usage is called by these names, until a policy says otherwise. */
export const quotaWarningPercent = 80
export const quotaCriticalPercent = 95
/** What a run of a policy, or one call of retention, deletes at most. */
export const retentionItemsMax = 100 // spec
/**
 * Images, and npm versions, that a scheduled run of a policy looks at to delete, in batches: what a busy build machine
 * makes in a week. More are left to the next run, so that the policies of other repositories get theirs.
 */
export const keptThingsPerRunMax = 10_000
/** Tags of an image that previews show: it is known by its digest, and few have more. */
export const tagsShownMax = 20
/** Versions that are looked at together when groups of them are counted: some milliseconds on either engine. */
export const versionsCountedPage = 2_000
/** Groups whose ends of what is kept are remembered within one look: more than one batch of versions can belong to. */
export const cutoffsRememberedGroups = 1_000
/** Files that a page of retention candidates looks at before it ends early with a `next`. */
export const candidatesLookedAtMax = 10_000
/** Policies whose time has come that are looked up together. */
export const duePoliciesPage = 100
