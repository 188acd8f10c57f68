import type { Transaction } from '../../../database/database.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { packageLine } from '../../../journal/repository/package-lines.ts'
import type { Change } from '../packages.ts'
import { findPromotion, putPromotion } from './records.queries.ts'

/** One promotion, as both journals tell of it. */
interface Told {
  readonly name: string
  readonly version: string
  readonly source: { readonly repository: string; readonly id: string }
  readonly copy: { readonly repository: string; readonly id: string; readonly created: boolean }
  readonly mode: 'copy' | 'move'
  readonly comment: string | null
}

/**
 * Both journals tell of a copy, once of each two repositories; that of the source of a move in any case, since
 * something is taken away there. The record says that they did.
 */
export const tellOf = async (tx: Transaction, told: Told, { actor, now }: Change): Promise<void> => {
  const { name, version, source, copy, mode, comment } = told
  const known = await findPromotion(tx, copy.id, source.repository)
  if (known !== undefined && mode === 'copy') return
  const line = { detail: packageLine(name, version), actor, occurredAt: now }
  const to = { peerRepository: copy.repository, peerArtifactId: copy.id }
  const from = { peerRepository: source.repository, peerArtifactId: source.id }
  await appendJournal(tx, {
    ...{ ...line, repository: source.repository, action: 'package.promoted', artifactId: source.id },
    promotion: { mode, comment, ...to },
  })
  if (known === undefined || copy.created)
    await appendJournal(tx, {
      ...{ ...line, repository: copy.repository, action: 'package.received', artifactId: copy.id },
      promotion: { mode, comment, ...from },
    })
  await putPromotion(tx, { copy_id: copy.id, source_repository: source.repository, mode, promoted_at: now })
}
