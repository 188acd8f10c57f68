import type { Transaction } from '../../../database/database.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'

export interface Source {
  readonly repository: string
  readonly artifactId: string
}

export interface By {
  readonly actor: string
  readonly now: string
}

interface Told {
  readonly target: string
  readonly mode: 'copy' | 'move'
  readonly comment: string | null
}

/** The journal of the source tells where to it was promoted. */
export const tellSource = (
  tx: Transaction,
  source: Source,
  copyId: string,
  { target, mode, comment }: Told,
  { actor, now }: By,
): Promise<void> =>
  appendJournal(tx, {
    ...source,
    action: 'artifact.promoted',
    detail: null,
    actor,
    occurredAt: now,
    promotion: { mode, peerRepository: target, peerArtifactId: copyId, comment },
  })

/** That of the target tells where from it came: once of each two, since a file comes once. */
export const tellTarget = (
  tx: Transaction,
  { repository: peerRepository, artifactId: peerArtifactId }: Source,
  copyId: string,
  { target, mode, comment }: Told,
  { actor, now }: By,
): Promise<void> =>
  appendJournal(tx, {
    repository: target,
    artifactId: copyId,
    action: 'artifact.received',
    detail: null,
    actor,
    occurredAt: now,
    promotion: { mode, peerRepository, peerArtifactId, comment },
  })
