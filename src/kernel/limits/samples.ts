import { day, hour, minute } from '../units.ts'

/** Bounds of what is remembered of sizes and queues, to draw them over time. */

/** A repository that changes all the time has 24 rows a day; one that rests, none. */
export const usageSampleEveryMs = hour
/** So often it is looked whether the hour is another one. */
export const usageLookEveryMs = 10 * minute
export const usageSamplesKeptMs = 400 * day
export const usageDaysMax = 400
export const usageDaysDefault = 31
/** Repositories that one statement of the sampling looks at. */
export const usageSampleBatch = 200
/** Up to so many days are told hour by hour, longer ones by the last of each day. */
export const usageHourlyDaysMax = 31

export const serviceSampleEveryMs = 10 * minute
export const serviceSamplesKeptMs = 31 * day
export const serviceDaysMax = 31
export const serviceDaysDefault = 1
/** Up to so many days are told as they were sampled, longer ones by the last of each hour. */
export const serviceFineDaysMax = 7

/** More points than any question has: 7 days of ten minutes are 1,008. */
export const samplesToldMax = 1_100
export const samplesForgottenAtOnce = 1_000
