import type { Transaction } from '../../../database/database.ts'
import { Failure } from '../../../kernel/failure.ts'
import { manifestsAtOnce, promotedManifestsMax } from '../../../kernel/limits/oci.ts'
import type { ImageName } from '../tags.ts'
import {
  type Known,
  linksOf,
  listedBy,
  listedInVain,
  namedAfter,
  referringTo,
  type SpeakingTag,
} from './gathering.queries.ts'

/** What belongs together. */
export interface Gathered {
  /** The one that was asked for is the first. */
  readonly manifests: readonly Known[]
  /** Tags that attach some of them to others: signatures of clients that know no other way. */
  readonly attaching: readonly SpeakingTag[]
}

/**
 * What goes along with a manifest: what it lists, what refers to it, by its subject or by a tag that is named after it,
 * and the same of each of those. 409 `promotion_limit` where that is more than one promotion takes, `image_incomplete`
 * where an index lists what was deleted. The caller holds the lock of the repository.
 */
export const gather = async (tx: Transaction, image: ImageName, root: Known): Promise<Gathered> => {
  const found = new Map([[root.id, root]])
  const attaching: SpeakingTag[] = []
  const links = await linksOf(tx, image)
  for (let some: readonly Known[] = [root]; some.length > 0; ) {
    const more: Known[] = []
    for (let at = 0; at < some.length; at += manifestsAtOnce) {
      const together = some.slice(at, at + manifestsAtOnce)
      const attached = links.byTag ? await attachedTo(tx, image, together) : []
      attaching.push(...attached)
      for (const manifest of [...attached, ...(await goingWith(tx, image, together, links))]) {
        if (found.has(manifest.id)) continue
        found.set(manifest.id, manifest)
        more.push(manifest)
        refuseMany(found.size)
      }
    }
    refuseMany(attaching.length)
    some = more
  }
  return { manifests: [...found.values()], attaching }
}

const refuseMany = (count: number): void => {
  if (count > promotedManifestsMax)
    throw new Failure(
      'promotion_limit',
      `More than ${promotedManifestsMax} manifests would go along with this one: promote what it lists one by one.`,
    )
}

/** One more than may be: of all that are found at once, not all can be known then. */
const enough = promotedManifestsMax + 1

const digestsOf = ({ digest, digest512 }: Known): string[] => (digest512 === null ? [digest] : [digest, digest512])

const attachedTo = async (tx: Transaction, image: ImageName, some: readonly Known[]): Promise<SpeakingTag[]> => {
  const found: SpeakingTag[] = []
  for (const digest of some.flatMap(digestsOf)) found.push(...(await namedAfter(tx, image, digest, enough)))
  return found
}

const goingWith = async (
  tx: Transaction,
  image: ImageName,
  some: readonly Known[],
  { bySubject }: { readonly bySubject: boolean },
): Promise<Known[]> => {
  const ids = some.map(({ id }) => id)
  const missing = await listedInVain(tx, ids)
  if (missing !== undefined)
    throw new Failure('image_incomplete', `An index lists ${missing}, which is not here any more; push it again.`)
  const found = await listedBy(tx, image, ids, enough)
  if (bySubject)
    for (const digest of some.flatMap(digestsOf)) found.push(...(await referringTo(tx, image, digest, enough)))
  return found
}
