import type { Transaction } from '../../../database/database.ts'
import { Failure } from '../../../kernel/failure.ts'
import { manifestsAtOnce, promotedManifestsMax } from '../../../kernel/limits/oci.ts'
import type { ImageName } from '../tags.ts'
import { type Known, listedBy, listedInVain, referringTo } from './gathering.queries.ts'

/**
 * What goes along with a manifest: what it lists, what refers to it, and the same of each of those, itself first. 409
 * `promotion_limit` where that is more than one promotion takes, `image_incomplete` where an index lists what was
 * deleted. The caller holds the lock of the repository.
 */
export const gather = async (tx: Transaction, image: ImageName, root: Known): Promise<readonly Known[]> => {
  const found = new Map([[root.id, root]])
  for (let some: readonly Known[] = [root]; some.length > 0; ) {
    const more: Known[] = []
    for (let at = 0; at < some.length; at += manifestsAtOnce)
      for (const manifest of await goingWith(tx, image, some.slice(at, at + manifestsAtOnce))) {
        if (found.has(manifest.id)) continue
        found.set(manifest.id, manifest)
        more.push(manifest)
        if (found.size > promotedManifestsMax)
          throw new Failure(
            'promotion_limit',
            `More than ${promotedManifestsMax} manifests would go along with this one: promote what it lists one by one.`,
          )
      }
    some = more
  }
  return [...found.values()]
}

/** One more than may be: of all that are found at once, not all can be known then. */
const enough = promotedManifestsMax + 1

const goingWith = async (tx: Transaction, image: ImageName, some: readonly Known[]): Promise<Known[]> => {
  const ids = some.map(({ id }) => id)
  const missing = await listedInVain(tx, ids)
  if (missing !== undefined)
    throw new Failure('image_incomplete', `An index lists ${missing}, which is not here any more; push it again.`)
  const found = await listedBy(tx, image, ids, enough)
  for (const { digest, digest512 } of some)
    for (const called of digest512 === null ? [digest] : [digest, digest512])
      found.push(...(await referringTo(tx, image, called, enough)))
  return found
}
