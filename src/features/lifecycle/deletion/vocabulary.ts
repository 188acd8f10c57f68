/** What may stand in the way of a deletion, in the order in which it is told. */
export const blockers = [
  'reference',
  'asset_history',
  'attachment_history',
  'protected_label',
  'promotion_stage',
] as const
export type Blocker = (typeof blockers)[number]

/** What became of a file that somebody wanted deleted. */
export const outcomes = ['deleted', 'already_deleted', 'protected', 'changed', 'not_eligible', 'not_found'] as const
export type Outcome = (typeof outcomes)[number]
