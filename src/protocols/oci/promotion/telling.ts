import type { Transaction } from '../../../database/database.ts'
import { imageLine } from '../../../journal/repository/image-lines.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import type { ImageName } from '../tags.ts'
import type { Copied } from './copying.ts'

/** One promotion, as both journals tell of it. */
export interface Told {
  readonly from: ImageName
  readonly to: ImageName
  readonly mode: 'copy' | 'move'
  readonly comment: string | null
  readonly actor: string
  readonly now: string
}

/** The journal of the source tells where to a manifest was promoted. */
export const tellSource = (
  tx: Transaction,
  { source, id }: Copied,
  { from, to, mode, comment, actor, now }: Told,
): Promise<void> =>
  appendJournal(tx, {
    repository: from.repository,
    action: 'image.promoted',
    artifactId: source.id,
    detail: imageLine(from.name, source.digest),
    actor,
    occurredAt: now,
    promotion: { mode, peerRepository: to.repository, peerArtifactId: id, peerImage: to.name, comment },
  })

/** That of the target tells where from it came. */
export const tellTarget = (
  tx: Transaction,
  { source, id }: Copied,
  { from, to, mode, comment, actor, now }: Told,
): Promise<void> =>
  appendJournal(tx, {
    repository: to.repository,
    action: 'image.received',
    artifactId: id,
    detail: imageLine(to.name, source.digest),
    actor,
    occurredAt: now,
    promotion: { mode, peerRepository: from.repository, peerArtifactId: source.id, peerImage: from.name, comment },
  })
