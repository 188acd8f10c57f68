/** Everything that the journal of a repository can tell (`noun.verb`). A row never changes its meaning. */
export type JournalAction =
  | 'artifact.publish'
  | 'artifact.delete'
  | 'artifact.restore'
  | 'asset.replace'
  | 'asset.restore'
  | 'bytes.reclaim'
