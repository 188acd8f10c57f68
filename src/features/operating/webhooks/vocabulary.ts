/**
 * How a subscription stands, in one word: a worker delivers it, its receiver refuses, there is no such repository (it
 * begins with the first event of one that is made), or no worker has it at this time.
 */
export const webhookStates = ['delivering', 'failing', 'no_repository', 'no_worker'] as const
export type WebhookState = (typeof webhookStates)[number]
