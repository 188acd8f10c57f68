import type { Deletion } from '../deletion/deletion.ts'
import type { Eligibility } from '../deletion/eligibility.ts'
import type { ImageTold, ShownImage } from './kept-kinds.ts'

/** A file that may be deleted, or that something keeps. */
export const candidate = ({ row, annotationRevision, blockers }: Eligibility) => ({
  id: row.id,
  name: row.name,
  size: String(row.size),
  publishedAt: row.published_at,
  annotationRevision,
  blockers,
})

/** What became of each. */
export const outcomesOf = (told: readonly Deletion[]) => ({
  items: told.map(({ id, outcome, blockers }) => ({ id, outcome, blockers })),
})

/** An image that a policy would delete. */
export const imageCandidate = ({ image, digest, taggedAt, tags }: ShownImage) => ({
  image,
  digest,
  taggedAt,
  tags: [...tags],
})

export const imageOutcomesOf = (told: readonly ImageTold[]) =>
  told.map(({ image, digest, outcome, blockers }) => ({ image, digest, outcome, blockers: [...blockers] }))
