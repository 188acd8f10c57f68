/** Everything that the journal of a repository can tell (`noun.verb`). A row never changes its meaning. */
export type JournalAction =
  | 'artifact.publish'
  | 'artifact.delete'
  | 'artifact.restore'
  | 'annotation.replace'
  | 'asset.replace'
  | 'bytes.reclaim'
