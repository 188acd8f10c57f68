import type { Transaction } from '../../../database/database.ts'
import { imageLine } from '../../../journal/repository/image-lines.ts'
import { appendJournal, appendJournalOfMany } from '../../../journal/repository/journal.ts'
import type { ImageName } from '../tags.ts'
import type { Copied } from './copying.ts'
import { findPromotion, putPromotion } from './records.queries.ts'

/** One promotion, as both journals tell of it. */
interface Told {
  readonly from: ImageName
  readonly to: ImageName
  readonly mode: 'copy' | 'move'
  readonly comment: string | null
  readonly actor: string
  readonly now: string
}

/**
 * Both journals tell of the first of some copies, once of each two, and that of the target of every manifest that came
 * to be; of what was there already, nothing. The record says so, and by which tag it was moved. `leaving`: something is
 * taken away from the source, of which its journal tells where it went.
 */
export const tellOf = async (
  tx: Transaction,
  [copy, ...others]: readonly Copied[],
  told: Told & { readonly tag: string | null; readonly leaving: boolean },
): Promise<void> => {
  if (copy === undefined) return
  const { from, mode, now } = told
  const known = await findPromotion(tx, copy.id, from)
  const came = others.filter(({ created }) => created)
  await tellTarget(tx, known === undefined || copy.created ? [copy, ...came] : came, told)
  const isKnown = known !== undefined && (mode === 'copy' || known.mode === 'move')
  if (isKnown && came.length === 0 && !told.leaving) return
  await tellSource(tx, copy, told)
  const recorded = mode === 'move' ? { mode, moved_tag: told.tag } : { mode, moved_tag: null, ...known }
  const ends = { copy_id: copy.id, source_repository: from.repository, source_name: from.name }
  await putPromotion(tx, { ...recorded, ...ends, promoted_at: now })
}

/** The journal of the source tells where to a manifest was promoted. */
const tellSource = (
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

/** That of the target tells where from manifests came. */
const tellTarget = (
  tx: Transaction,
  copies: readonly Copied[],
  { from, to, mode, comment, actor, now }: Told,
): Promise<void> =>
  appendJournalOfMany(
    tx,
    { repository: to.repository, action: 'image.received', actor, occurredAt: now },
    copies.map(({ source, id }) => ({
      artifactId: id,
      detail: imageLine(to.name, source.digest),
      promotion: { mode, peerRepository: from.repository, peerArtifactId: source.id, peerImage: from.name, comment },
    })),
  )
