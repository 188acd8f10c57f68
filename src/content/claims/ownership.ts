import type { Database } from '../../database/database.ts'
import { installation } from '../../database/moving/installation.queries.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import { ownershipLooksMax } from '../../kernel/limits/upkeep.ts'
import { blobName, digestOfName, generationOf } from '../../ports/blob-name.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { isStoredAs } from './claims.queries.ts'
import { someStored } from './ownership.queries.ts'

/**
 * A store says which database it belongs to. So a lost database, another one and a wrong bucket are noticed before
 * anything is made of them: an empty catalog beside a full store is no first start, and what no row knows is not
 * therefore nobody's.
 */
export interface OwnershipDeps {
  readonly database: Database
  readonly store: BlobStore
}

const howToAdopt = 'If this database and this store are to belong together from now on, run svc adopt-store.'

/**
 * Throws 503 unless the store belongs to the database; signs one that nobody has signed, which is either new or from
 * before there were signatures: then it has to be empty beside an empty catalog, or to hold what the catalog calls
 * stored.
 */
export const refuseForeignStore = async (
  { database, store }: OwnershipDeps,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<void> => {
  const { identity } = await installation(database.reader)
  const owner = await store.owner()
  if (owner === identity) return
  if (owner !== null) throw new Failure('unavailable', `${strangeOwner(owner, identity)} ${howToAdopt}`)
  if (readOnly) return
  const trouble = await doubt({ database, store })
  if (trouble !== null) throw new Failure('unavailable', `${trouble} ${howToAdopt}`)
  await store.sign(identity)
}

/** What is wrong with a store that another database has signed; null where none has. */
export const foreignOwner = async ({ database, store }: OwnershipDeps): Promise<string | null> => {
  const { identity } = await installation(database.reader)
  const owner = await store.owner()
  return owner === null || owner === identity ? null : strangeOwner(owner, identity)
}

/** From now on the store belongs to the database, whatever it said. Nothing in it changes. */
export const adoptStore = async ({ database, store }: OwnershipDeps): Promise<void> =>
  store.sign((await installation(database.reader)).identity)

const strangeOwner = (owner: string, identity: string): string =>
  `The blob store belongs to the installation ${owner}, and this database is that of ${identity}: a setting names the wrong one, or the database was replaced. Set SVC_DATABASE_URL and SVC_BLOB_STORE right, or put the database back.`

const doubt = async ({ database, store }: OwnershipDeps): Promise<string | null> => {
  const known = await someStored(database.reader, ownershipLooksMax)
  if (known.length === 0) return await doubtWithoutFiles({ database, store })
  for (const { sha256, generation } of known)
    if ((await store.size(blobName(toSha256(sha256), generation))) !== null) return null
  return `The blob store holds none of the first ${known.length} files that the catalog calls stored: the store was lost, or a setting names another one. Set SVC_BLOB_STORE right, or put the files back.`
}

/** Beside a catalog that calls nothing stored there, or only has files in the database. */
const doubtWithoutFiles = async ({ database, store }: OwnershipDeps): Promise<string | null> => {
  let looked = 0
  for await (const { name } of store.list()) {
    // A file of the database may lie here as well: whoever put it here was late.
    if (await isStoredAs(database.reader, digestOfName(name), generationOf(name))) return null
    looked += 1
    if (looked >= ownershipLooksMax) break
  }
  return looked === 0
    ? null
    : 'The catalog is empty, and the blob store holds files: the database was lost, or a setting names another one. Put the database back, or set SVC_DATABASE_URL or SVC_BLOB_STORE right.'
}
