import type { Queries } from '../../../database/database.ts'
import type { NpmCachedPackagesTable, NpmCachedPiecesTable } from '../../../database/tables/npm-upstreams.ts'
import { npmCachedPiecesAtOnce } from '../../../kernel/limits/npm-upstream.ts'
import type { DocumentSource } from '../documents.ts'
import { objectOf } from '../fields.ts'
import { Cutter } from '../publishing/cutting.ts'
import type { ReadPackage } from '../reading.ts'
import { registryMark } from '../vocabulary.ts'
import { cachedPieces, cachedRevision } from './cached.queries.ts'
import { textOfPiece } from './compressed-pieces.ts'

/** The text of a part of a document that is kept, piece by piece. */
export async function* textsOf(
  q: Queries,
  packageId: string,
  part: NpmCachedPiecesTable['part'],
): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const some = await cachedPieces(q, packageId, part, after, npmCachedPiecesAtOnce)
    for (const { bytes } of some) yield await textOfPiece(bytes)
    const last = some.at(-1)
    if (last === undefined || some.length < npmCachedPiecesAtOnce) return
    after = last.number
  }
}

/** Documents of packages of upstreams. */
const cachedDocuments: DocumentSource = {
  revisionNow: cachedRevision,
  async putTogether(q, { packageId, form, registry }) {
    const revision = await cachedRevision(q, packageId)
    const parts: Buffer[] = []
    for await (const text of textsOf(q, packageId, form))
      parts.push(Buffer.from(text.replaceAll(registryMark, registry)))
    return revision === undefined || parts.length === 0 ? null : { revision, bytes: Buffer.concat(parts) }
  },
}

/** A package of an upstream, to be read as those that are published here. */
export const cachedPackage = ({ id, revision, fetched_at }: NpmCachedPackagesTable): ReadPackage => ({
  ...{ id, revision, modified_at: fetched_at },
  source: cachedDocuments,
})

/** The tags of a package of an upstream, with their versions. */
export const cachedTags = ({ tags }: Pick<NpmCachedPackagesTable, 'tags'>): Record<string, string> =>
  Object.fromEntries(Object.entries(objectOf(JSON.parse(tags))).map(([tag, version]) => [tag, String(version)]))

/** The manifest of a version of an upstream, as JSON; null without one. */
export const cachedManifest = async (
  q: Queries,
  { id }: Pick<NpmCachedPackagesTable, 'id'>,
  version: string,
  registry: string,
): Promise<string | null> => {
  const cutter = new Cutter()
  for await (const text of textsOf(q, id, 'full'))
    for (const cut of cutter.cut(Buffer.from(text)))
      if (cut.kind === 'version' && cut.version === version)
        return cut.text.toString().replaceAll(registryMark, registry)
  return null
}
