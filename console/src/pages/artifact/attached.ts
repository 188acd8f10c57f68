import type { Contract } from '../../contract/generated.ts'

export type Attachment = Contract['getAttachments']['answer']['items'][number]

export const kinds = [
  'manifest',
  'sbom',
  'signature',
  'report',
  'file',
] as const satisfies readonly Attachment['kind'][]

const same = (one: Attachment | undefined, other: Attachment | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** What both sides of a conflict changed by themselves is kept, by name; of a name that both changed, mine is. */
export const mergedAttachments = (
  base: readonly Attachment[],
  mine: readonly Attachment[],
  theirs: readonly Attachment[],
): { readonly items: Attachment[]; readonly clashes: string[] } => {
  const byName = (items: readonly Attachment[]) => new Map(items.map((item) => [item.name, item]))
  const [was, ours, others] = [byName(base), byName(mine), byName(theirs)]
  const items: Attachment[] = []
  const clashes: string[] = []
  for (const name of new Set([...others.keys(), ...ours.keys()])) {
    const [before, own, other] = [was.get(name), ours.get(name), others.get(name)]
    if (!same(own, before) && !same(other, before) && !same(own, other)) clashes.push(name)
    const kept = same(own, before) ? other : own
    if (kept !== undefined) items.push(kept)
  }
  return { items, clashes }
}
