import type { JournalEntry } from '../../src/journal/repository/journal.queries.ts'

/** A line of a journal as a publication leaves one, for tests to which it does not matter what was published. */
export const publishedLine = (repository: string, atMs = 0): JournalEntry => ({
  repository,
  action: 'artifact.publish',
  artifactId: '00000000-0000-0000-0000-000000000000',
  detail: null,
  actor: 'account:someone',
  occurredAt: new Date(atMs).toISOString(),
})
