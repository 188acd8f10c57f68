import { countBeside } from '../../content/claims/claims.ts'
import type { Transaction } from '../../database/database.ts'
import { appendJournalOfMany } from '../../journal/repository/journal.ts'
import { packageLine } from '../../journal/repository/package-lines.ts'
import { foldCase } from '../../kernel/fold-case.ts'
import { newId } from '../../kernel/ids.ts'
import {
  npmDocumentMaxBytes,
  npmFoundByMaxCharacters,
  npmKeywordMaxCharacters,
  npmKeywordsShownMax,
  npmPieceBytes,
  npmSummaryMaxCharacters,
  npmTagsMax,
  npmVersionsMax,
} from '../../kernel/limits/npm.ts'
import { textBytes } from '../../kernel/text-bytes.ts'
import { MiB } from '../../kernel/units.ts'
import {
  appendToPiece,
  deleteTags,
  findPackage,
  insertPackage,
  insertPiece,
  insertVersion,
  isTaken,
  lastPiece,
  packageById,
  putDocuments,
  putTag,
  setPiece,
  settle,
  shownBytes,
  updatePackage,
  versionAtTag,
  versionsOfPiece,
} from './changing.queries.ts'
import { type Fields, objectOf } from './fields.ts'
import { tagsOf } from './packages.queries.ts'
import type { PackageName } from './reading.ts'
import { alreadyPublished, badPackage, tooLarge } from './refusals.ts'
import { frameTexts, pieceTexts, type Rendered } from './rendering.ts'

/*
 * What changes a package, each in the caller's transaction, which has the lock of the repository: publishers of one
 * package come one after the other, so none loses what another added. A change ends with `settlePackage`, which writes
 * what the documents say beside their versions.
 */

/** Who changes it, and when. */
export interface Change {
  readonly actor: string
  readonly now: string
}

/** A version that is to be there. */
export interface NewVersion
  extends Omit<
    Rendered & { readonly readme: string | null; readonly sha256: string; readonly size: number },
    'name' | 'published_at'
  > {
  readonly id: string
}

/** The package of a name, made where there is none. */
export const packageNamed = async (
  tx: Transaction,
  { repository, name }: PackageName,
  publisher: string,
  { now }: Change,
): Promise<string> => {
  const found = await findPackage(tx, { repository, name })
  const maintainers = JSON.stringify([{ name: publisher, email: '' }])
  if (found !== undefined) {
    // One that comes back belongs to who brings it back.
    if (found.versions === 0) await updatePackage(tx, { id: found.id, maintainers, stars: '[]', created_at: now })
    return found.id
  }
  const id = newId(Date.parse(now))
  await insertPackage(tx, {
    ...{ id, repository, name, revision: 0, created_at: now, modified_at: now, versions: 0, last_number: 0 },
    ...{ maintainers, stars: '[]', summary: null, found_by: '' },
  })
  return id
}

/** Adds a version to a package; the caller tells the journal, and tags it. 409 for a number that was ever there. */
export const addVersion = async (
  tx: Transaction,
  here: PackageName,
  packageId: string,
  version: NewVersion,
  { actor, now }: Change,
  capacityBytes: number,
): Promise<void> => {
  const { repository, name } = here
  if (await isTaken(tx, here, version.version)) throw alreadyPublished(version.version)
  const { last_number, versions } = await packageById(tx, packageId)
  if (versions >= npmVersionsMax)
    throw tooLarge(
      `${name} has ${versions} versions, as many as a package may have. Take those away that nobody needs.`,
    )
  const number = last_number + 1
  const shown = { ...version, name, published_at: now }
  const piece = await show(tx, packageId, shown)
  await refuseTooMuch(tx, here, packageId)
  await insertVersion(tx, { ...shown, package_id: packageId, repository, number, piece, actor, deleted_at: null })
  await updatePackage(tx, { id: packageId, last_number: number, versions: versions + 1 })
  await countBeside(tx, version.id, textBytes(version.manifest, version.readme, version.attestations), capacityBytes)
}

/** 413 for a package of which more is said than clients should read at once. */
const refuseTooMuch = async (tx: Transaction, { name }: PackageName, packageId: string): Promise<void> => {
  if ((await shownBytes(tx, packageId)) <= npmDocumentMaxBytes) return
  throw tooLarge(
    `The versions of ${name} take more than ${npmDocumentMaxBytes / MiB} MiB in its document, which is read whole. Take versions away that nobody needs, or say less in package.json.`,
  )
}

/** Moves tags to a version that was added, and `latest` where nothing has it: clients install by that. */
export const tagAdded = async (
  tx: Transaction,
  here: PackageName,
  packageId: string,
  tags: readonly string[],
  version: { readonly id: string; readonly version: string },
  change: Change,
): Promise<boolean> => {
  const hasLatest = (await tagsOf(tx, packageId)).some(({ tag }) => tag === 'latest')
  return setTags(tx, here, packageId, hasLatest ? tags : [...new Set([...tags, 'latest'])], version, change)
}

/** Lets the documents show a version behind all others; answers in which piece. */
export const show = async (tx: Transaction, packageId: string, version: Rendered): Promise<number> => {
  const texts = pieceTexts([version])
  const last = await lastPiece(tx, packageId)
  if (last !== undefined && last.characters < npmPieceBytes) {
    await appendToPiece(tx, packageId, last.number, texts)
    return last.number
  }
  const number = (last?.number ?? 0) + 1
  await insertPiece(tx, { package_id: packageId, number, ...texts })
  return number
}

/** Writes a piece anew, from the versions that are in it now. */
export const rewritePiece = async (tx: Transaction, packageId: string, piece: number): Promise<void> =>
  setPiece(tx, packageId, piece, pieceTexts(await versionsOfPiece(tx, packageId, piece)))

/** Moves tags to a version of the package. Whether any of them was not there. */
export const setTags = async (
  tx: Transaction,
  { repository, name }: PackageName,
  packageId: string,
  tags: readonly string[],
  { id, version }: { readonly id: string; readonly version: string },
  { actor, now }: Change,
): Promise<boolean> => {
  const before = new Map((await tagsOf(tx, packageId)).map((row) => [row.tag, row.version_id]))
  const moving = tags.filter((tag) => before.get(tag) !== id)
  const added = moving.filter((tag) => !before.has(tag))
  if (before.size + added.length > npmTagsMax) throw badPackage(`A package has at most ${npmTagsMax} tags.`)
  for (const tag of moving) await putTag(tx, { package_id: packageId, tag, version_id: id, moved_at: now, actor })
  await appendJournalOfMany(
    tx,
    { repository, action: 'dist-tag.set', actor, occurredAt: now },
    moving.map((tag) => ({ artifactId: id, detail: packageLine(name, version, tag) })),
  )
  return moving.length > 0
}

/** Takes tags away. */
export const removeTags = async (
  tx: Transaction,
  { repository, name }: PackageName,
  packageId: string,
  tags: readonly { readonly tag: string; readonly version: string; readonly version_id: string }[],
  { actor, now }: Change,
): Promise<void> => {
  if (tags.length === 0) return
  await deleteTags(
    tx,
    packageId,
    tags.map(({ tag }) => tag),
  )
  await appendJournalOfMany(
    tx,
    { repository, action: 'dist-tag.remove', actor, occurredAt: now },
    tags.map(({ tag, version, version_id }) => ({ artifactId: version_id, detail: packageLine(name, version, tag) })),
  )
}

/** Writes what the documents and lists say of a package beside its versions. Every change of one ends with it. */
export const settlePackage = async (
  tx: Transaction,
  packageId: string,
  { now }: Pick<Change, 'now'>,
): Promise<number> => {
  const before = await packageById(tx, packageId)
  const row = { ...before, revision: before.revision + 1, modified_at: now }
  const latest = await versionAtTag(tx, packageId, 'latest')
  await putDocuments(tx, { package_id: packageId, ...frameTexts(row, await tagsOf(tx, packageId), latest) })
  await settle(tx, { id: packageId, revision: row.revision, modified_at: now, ...toldOf(row, latest) })
  return row.revision
}

/** What lists and searches say of a package, by its newest version. */
const toldOf = (
  { name, maintainers }: { readonly name: string; readonly maintainers: string },
  latest: { readonly version: string; readonly manifest: string; readonly published_at: string } | undefined,
): { readonly summary: string | null; readonly found_by: string } => {
  if (latest === undefined) return { summary: null, found_by: foldCase(name) }
  const manifest: Fields = objectOf(JSON.parse(latest.manifest))
  const { description, keywords, license } = manifest
  const words = (Array.isArray(keywords) ? keywords : [])
    .filter((word) => typeof word === 'string')
    .slice(0, npmKeywordsShownMax)
    .map((word) => word.slice(0, npmKeywordMaxCharacters))
  const text = typeof description === 'string' ? description.slice(0, npmSummaryMaxCharacters) : ''
  const owners: unknown = JSON.parse(maintainers)
  const summary = {
    name,
    version: latest.version,
    description: text,
    keywords: words,
    date: latest.published_at,
    ...(typeof license === 'string' ? { license: license.slice(0, npmKeywordMaxCharacters) } : {}),
    links: {},
    publisher: { username: String(objectOf(manifest['_npmUser'])['name'] ?? ''), email: '' },
    maintainers: (Array.isArray(owners) ? owners : []).map((owner) => ({
      username: String(objectOf(owner)['name'] ?? ''),
      email: '',
    })),
  }
  return {
    summary: JSON.stringify(summary),
    found_by: foldCase([name, text, ...words].join('\n').slice(0, npmFoundByMaxCharacters))
      .replaceAll('\0', '')
      .toWellFormed(),
  }
}
