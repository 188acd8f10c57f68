import type { JournalTable } from '../../database/tables/journal.ts'
import type { JournalAction, PromotionAction } from '../../kernel/journal-actions.ts'
import type { PromotionEventAction } from '../../kernel/journal-words.ts'
import { cursorAt } from '../../kernel/order.ts'
import type { Page } from '../../kernel/page.ts'
import type { Stretch } from '../../kernel/sequence.ts'
import { type Telling, tellable } from '../telling.ts'
import { imageOfLine } from './image-lines.ts'
import { packageOfLine } from './package-lines.ts'
import { listPromotionRows } from './promotions.queries.ts'

/** The promotion journal: those lines of the one journal that tell of stages and promotions. */
export interface PromotionEvent {
  readonly sequence: string
  readonly repository: string
  /** The file, the manifest of an image, or the version of an npm package. */
  readonly artifactId: string
  /** What the image is called, and the digest of the manifest; null for what is none. */
  readonly image: string | null
  readonly digest: string | null
  /** What the npm package is called, and the version of it; null for what is none. */
  readonly package: string | null
  readonly version: string | null
  readonly action: PromotionEventAction
  readonly stage: string | null
  readonly mode: 'copy' | 'move' | null
  readonly peerRepository: string | null
  readonly peerArtifactId: string | null
  readonly peerImage: string | null
  readonly actor: string
  readonly comment: string | null
  readonly occurredAt: string
}

const eventActionOf: Readonly<Record<PromotionAction, PromotionEvent['action']>> = {
  'stage.added': 'stage.added',
  'stage.removed': 'stage.removed',
  'artifact.promoted': 'promoted',
  'artifact.received': 'received',
  'image.staged': 'stage.added',
  'image.unstaged': 'stage.removed',
  'image.promoted': 'promoted',
  'image.received': 'received',
  'package.staged': 'stage.added',
  'package.unstaged': 'stage.removed',
  'package.promoted': 'promoted',
  'package.received': 'received',
}

const isPromotion = (action: JournalAction): action is PromotionAction => action in eventActionOf

/** A page of events in a stretch of them, and the cursor that the next page goes on after. */
export const promotionPage = async (
  database: Telling,
  of: { readonly repository: string; readonly artifactId: string | null },
  stretch: Stretch,
  limit: number,
): Promise<Page<PromotionEvent>> => {
  const rows = await tellable(database, (q) => listPromotionRows(q, of, stretch, limit + 1).execute())
  const items = rows.slice(0, limit).flatMap(toEvent)
  const last = rows.length > limit ? items.at(-1) : undefined
  return { items, next: last === undefined ? null : cursorAt(stretch.order, last.sequence) }
}

const toEvent = (row: JournalTable): PromotionEvent[] => {
  if (!isPromotion(row.action)) return []
  const image = row.action.startsWith('image.') ? imageOfLine(row.detail ?? '') : null
  const version = row.action.startsWith('package.') ? packageOfLine(row.detail ?? '') : null
  return [
    {
      sequence: String(row.sequence),
      repository: row.repository,
      artifactId: row.artifact_id,
      image: image?.name ?? null,
      digest: image?.digest ?? null,
      package: version?.name ?? null,
      version: version?.version ?? null,
      action: eventActionOf[row.action],
      stage: (image ?? version ?? { stage: row.detail }).stage,
      mode: row.mode,
      peerRepository: row.peer_repository,
      peerArtifactId: row.peer_artifact_id,
      peerImage: row.peer_image,
      actor: row.actor,
      comment: row.comment,
      occurredAt: row.occurred_at,
    },
  ]
}

/** Where the other end of a promotion is, as far as somebody may know: the repository, and the file or image in it. */
export interface PeerSight {
  readonly repository: boolean
  readonly artifact: boolean
}

/** The same events without what their reader may not see of other repositories, each of which is asked for once. */
export const seenBy = async (
  events: readonly PromotionEvent[],
  sightOf: (repository: string) => Promise<PeerSight>,
): Promise<PromotionEvent[]> => {
  const peers = new Set(events.flatMap(({ peerRepository }) => (peerRepository === null ? [] : [peerRepository])))
  const sights = new Map<string, PeerSight>()
  for (const peer of peers) sights.set(peer, await sightOf(peer))
  return events.map((event) => {
    const sight = event.peerRepository === null ? undefined : sights.get(event.peerRepository)
    return {
      ...event,
      peerRepository: sight?.repository === true ? event.peerRepository : null,
      peerArtifactId: sight?.artifact === true ? event.peerArtifactId : null,
      peerImage: sight?.artifact === true ? event.peerImage : null,
    }
  })
}
