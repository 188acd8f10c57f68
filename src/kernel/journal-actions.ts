/** Everything that the journal of a repository can tell (`noun.verb`). A row never changes its meaning. */
export type JournalAction =
  | 'artifact.publish'
  | 'artifact.delete'
  | 'artifact.restore'
  | 'asset.replace'
  | 'asset.restore'
  | 'bytes.reclaim'

/** Actions whose detail is neither a path nor a stage: feeds do not show it. */
export const withInnerDetail: ReadonlySet<JournalAction> = new Set(['bytes.reclaim'])
