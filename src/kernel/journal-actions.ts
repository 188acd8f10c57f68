/** Everything that the journal of a repository can tell (`noun.verb`). A row never changes its meaning. */
export const journalActions = ['artifact.publish', 'asset.replace'] as const

export type JournalAction = (typeof journalActions)[number]
