/** Everything that the journal of a repository can tell (`noun.verb`). A row never changes its meaning. */
export type JournalAction =
  | 'artifact.publish'
  | 'artifact.delete'
  | 'artifact.restore'
  | 'annotation.replace'
  | 'asset.forget'
  | 'asset.remove'
  | 'asset.replace'
  | 'asset.restore'
  | 'attachment.replace'
  | 'blob.delete'
  | 'bytes.reclaim'
  | 'image.delete'
  | 'image.push'
  | 'package.register'
  | 'reference.add'
  | 'reference.remove'
  | 'tag.remove'
  | 'tag.set'
  | PromotionAction

/** What the promotion journal tells. The partial indexes of the table name the same ones, in the same order. */
export const promotionActions = [
  'stage.added',
  'stage.removed',
  'artifact.promoted',
  'artifact.received',
  'image.staged',
  'image.unstaged',
  'image.promoted',
  'image.received',
] as const
export type PromotionAction = (typeof promotionActions)[number]

/** Actions whose detail is neither a path nor a stage: feeds do not show it. */
export const withInnerDetail: ReadonlySet<JournalAction> = new Set(['bytes.reclaim'])
