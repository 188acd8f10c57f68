import type { Deletion } from '../deletion/deletion.ts'
import type { Eligibility } from '../deletion/eligibility.ts'
import type { ShownThing, ThingTold } from './kept-kinds.ts'
import { imageBlockers, npmVersionBlockers } from './vocabulary.ts'

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
export const imageCandidate = ({ group, called, at, tags }: ShownThing) => ({
  ...{ image: group, digest: called },
  taggedAt: at,
  tags: [...tags],
})

export const imageOutcomesOf = (told: readonly ThingTold[]) =>
  told.map(({ group, called, outcome, blockers }) => ({
    ...{ image: group, digest: called, outcome },
    blockers: imageBlockers.filter((blocker) => blockers.includes(blocker)),
  }))

/** A version of an npm package that a policy would delete. */
export const npmVersionCandidate = ({ group, called, at }: ShownThing) => ({
  ...{ package: group, version: called },
  publishedAt: at,
})

export const npmVersionOutcomesOf = (told: readonly ThingTold[]) =>
  told.map(({ group, called, outcome, blockers }) => ({
    ...{ package: group, version: called, outcome },
    blockers: npmVersionBlockers.filter((blocker) => blockers.includes(blocker)),
  }))
