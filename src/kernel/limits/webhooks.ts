import { hour, KiB, minute, second } from '../units.ts'

/** Bounds of webhooks. */

export const webhooksMax = 16 // spec
export const webhookUrlMaxCharacters = 2_048 // spec
/** Until a receiver has answered. */
export const webhookAnswerMs = 10 * second // spec
/** Pause after a failed delivery; it doubles up to the longest. */
export const webhookPauseFirstMs = 12 * second // spec
export const webhookPauseLongestMs = hour // spec
/** Pause where the fault is ours: the journal or the state cannot be read. */
export const webhookOwnPauseMs = 5 * second // spec
/** A fault of ours that has not come back for so long is over; until then it is not told again. */
export const webhookOverAfterMs = minute
export const webhookSecretBytesMin = 16 // spec
export const webhookSecretBytesMax = 4 * KiB
/** Until a secret has been read: a file system over a network may never answer. */
export const webhookSecretReadMs = 3 * second
/** Sixteen subscriptions with the longest addresses, and every action each. */
export const webhooksFileBytesMax = 128 * KiB

/** How often it is looked whether the file has changed; secrets are read anew as often. */
export const webhooksLookEveryMs = 2 * second
/**
 * A worker has a subscription for this long, and says so again after a third of it. No delivery begins with less left
 * than it may take, so that whoever takes over never sends beside somebody who was slow.
 */
export const webhookLeaseMs = 30 * second
export const webhookLeaseRenewMs = 10 * second
export const webhookLeaseSpareMs = webhookAnswerMs + webhookSecretReadMs + 2 * second
/**
 * Deliveries are noted this often, those of all subscriptions at the same moments, and before every pause: so much is
 * sent again after a crash.
 */
export const webhookNotedEveryMs = second / 2
/** Notes that come within this are one transaction. */
export const webhookNotesTogetherMs = 20
/** Lines of a journal that a subscription is given at a time. */
export const webhookLinesAtOnce = 256
/** Pause between reads of a journal: all subscriptions that are ready by then are served by one. */
export const webhookReadsEveryMs = 100
/** The same while there is more than is read at a time. */
export const webhookReadsBehindEveryMs = 50
/** What is given to be delivered is given for so long: secrets that were replaced count from the next time on. */
export const webhookCarriedMs = 2 * second
/** Of the thread that delivers: beside requests that want all of a core it has a tenth of that. */
export const webhookNiceness = 10
/**
 * So often that thread looks at the machine. Where all its processors together had less than this to spare, each
 * subscription pauses before each delivery, up to so long: it goes on with a hundred events a second.
 */
export const webhookStandBackLookMs = 200
export const webhookSpareShare = 0.1
export const webhookStandBackMaxMs = 8
/**
 * So much later than it should a thread may say what became of a load, or be done with one that is left: from then on
 * it hangs.
 */
export const webhookThreadLateMs = 10 * second
/** Until it has ended, when the service stops. */
export const webhookThreadEndMs = 5 * second
/**
 * Its heap, of which loads and what undici keeps take a few: one that grows beyond it ends with its thread, and the
 * service goes on with another.
 */
export const webhookThreadHeapMaxMiB = 64
/** A subscription that no file has named for so long is given up: files of several machines change one by one. */
export const webhookUnnamedMs = 10 * minute
/** Subscriptions that are told of: those of the file, and those that it named a moment ago. */
export const webhooksShownMax = 4 * webhooksMax
