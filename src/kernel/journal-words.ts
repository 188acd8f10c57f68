/** What the promotion journal tells of. */
export const promotionEvents = ['stage.added', 'stage.removed', 'promoted', 'received'] as const
export type PromotionEventAction = (typeof promotionEvents)[number]

/** How much a storage event matters. */
export const storageEventLevels = ['info', 'warning', 'error'] as const
export type StorageEventLevel = (typeof storageEventLevels)[number]
