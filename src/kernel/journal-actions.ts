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
  'package.staged',
  'package.unstaged',
  'package.promoted',
  'package.received',
] as const
export type PromotionAction = (typeof promotionActions)[number]

/** Everything that the journal of a repository can tell (`noun.verb`). A row never changes its meaning. */
export const journalActions = [
  'artifact.publish',
  'artifact.delete',
  'artifact.restore',
  'annotation.replace',
  'asset.forget',
  'asset.remove',
  'asset.replace',
  'asset.restore',
  'attachment.replace',
  'blob.delete',
  'bytes.reclaim',
  'dist-tag.remove',
  'dist-tag.set',
  'image.delete',
  'image.push',
  'lfs.delete',
  'lfs.push',
  'lfs.restore',
  'lock.break',
  'lock.create',
  'lock.remove',
  'package.deprecate',
  'package.drop',
  'package.fetch',
  'package.owners',
  'package.publish',
  'package.register',
  'package.restore',
  'package.unpublish',
  'reference.add',
  'reference.remove',
  'tag.remove',
  'tag.set',
  ...promotionActions,
] as const
export type JournalAction = (typeof journalActions)[number]

const all: ReadonlySet<string> = new Set(journalActions)
export const isJournalAction = (value: unknown): value is JournalAction => typeof value === 'string' && all.has(value)

/** Actions whose detail is neither a path nor a stage: feeds do not show it. */
export const withInnerDetail: ReadonlySet<JournalAction> = new Set(['bytes.reclaim'])
