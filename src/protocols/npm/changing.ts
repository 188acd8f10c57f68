import type { Database, Transaction } from '../../database/database.ts'
import { lockRepository } from '../../database/locks.ts'
import { appendJournal, appendJournalOfMany } from '../../journal/repository/journal.ts'
import { packageLine } from '../../journal/repository/package-lines.ts'
import { type Clock, timestamp } from '../../kernel/clock.ts'
import { Failure } from '../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../kernel/fault-points.ts'
import {
  npmDeprecationMaxCharacters,
  npmMaintainersMax,
  npmOwnerMaxCharacters,
  npmStarsMax,
} from '../../kernel/limits/npm.ts'
import { deprecationsOf, findPackage, isTaken, setDeprecated, updatePackage } from './changing.queries.ts'
import { type Fields, objectOf } from './fields.ts'
import { findVersion, tagsOf } from './packages.queries.ts'
import { type Change, removeTags, rewritePiece, setTags, settlePackage } from './packages.ts'
import { plainText, refuseTag, versionOf } from './publishing/claimed.ts'
import type { PackageName } from './reading.ts'
import { badPackage, packageUnknown, tagUnknown, versionUnknown } from './refusals.ts'
import { revisionText } from './rendering.ts'

export interface ChangingDeps {
  readonly database: Database
  readonly clock: Clock
  readonly reach: ReachFaultPoint
}

/** Who changes which package. */
export interface Changer extends PackageName {
  readonly owner: string
}

/** A package as it is after a change. */
export interface Changed {
  readonly packageId: string
  readonly revision: number
}

/**
 * Changes a package that has versions, under the lock of its repository; what `work` changes stands in its documents.
 * 404 without one, 409 where its state is another one than `expected`, as clients call it.
 */
const changePackage = async (
  { database, clock, reach }: ChangingDeps,
  changer: Changer,
  work: (tx: Transaction, packageId: string, change: Change) => Promise<void>,
  expected?: string,
): Promise<Changed> => {
  const changed = await database.transaction(async (tx) => {
    await lockRepository(tx, changer.repository)
    const found = await findPackage(tx, changer)
    if (found === undefined || found.versions === 0) throw packageUnknown(changer.name)
    refuseStale(found, expected)
    const change = { actor: changer.owner, now: timestamp(clock.now()) }
    await work(tx, found.id, change)
    const revision = await settlePackage(tx, found.id, change)
    reach('npm.told')
    return { packageId: found.id, revision }
  })
  reach('npm.committed')
  return changed
}

/** 409 for a package that was changed since a client read it. */
export const refuseStale = (
  row: { readonly id: string; readonly revision: number; readonly name: string },
  expected?: string,
): void => {
  if (expected !== undefined && expected !== revisionText(row))
    throw new Failure(
      'revision_mismatch',
      `${row.name} was changed meanwhile: it is at ${revisionText(row)}. Try again.`,
    )
}

/** Moves a tag to a version. 404 without that version, 400 for what is no tag. */
export const putDistTag = (deps: ChangingDeps, changer: Changer, tag: string, wanted: unknown): Promise<Changed> => {
  refuseTag(tag)
  const version = versionOf(wanted)
  return changePackage(deps, changer, async (tx, packageId, change) => {
    const found = await findVersion(tx, changer, version)
    if (found === undefined) throw versionUnknown(changer.name, version)
    await setTags(tx, changer, packageId, [tag], found, change)
  })
}

/** Takes a tag away. 404 without it; `latest` stays, since clients install by it. */
export const deleteDistTag = (deps: ChangingDeps, changer: Changer, tag: string): Promise<Changed> => {
  if (tag === 'latest') throw badPackage('The tag latest stays: clients install by it. Move it to another version.')
  return changePackage(deps, changer, async (tx, packageId, change) => {
    const tags = (await tagsOf(tx, packageId)).filter((row) => row.tag === tag)
    if (tags.length === 0) throw tagUnknown(changer.name, tag)
    await removeTags(tx, changer, packageId, tags, change)
  })
}

/**
 * Says of versions that they are deprecated, by a sentence for each, or not any more, by an empty one or null. Those
 * of which nothing is said stay as they are: somebody published them meanwhile.
 */
export const deprecate = (
  deps: ChangingDeps,
  changer: Changer,
  said: ReadonlyMap<string, string | null>,
): Promise<Changed> =>
  changePackage(deps, changer, async (tx, packageId, { actor, now }) => {
    const pieces = new Set<number>()
    const changed: { readonly artifactId: string; readonly detail: string }[] = []
    const live = await deprecationsOf(tx, packageId)
    await refuseUnknown(tx, changer, said, new Set(live.map(({ version }) => version)))
    for (const row of live) {
      const sentence = said.get(row.version)
      if (sentence === undefined) continue
      const wanted = sentence === null || sentence === '' ? null : plainText(sentence)
      if (wanted === row.deprecated) continue
      if (wanted !== null && wanted.length > npmDeprecationMaxCharacters)
        throw badPackage(`A deprecation has at most ${npmDeprecationMaxCharacters} characters.`)
      await setDeprecated(tx, row.id, wanted)
      changed.push({ artifactId: row.id, detail: packageLine(changer.name, row.version) })
      if (row.piece !== null) pieces.add(row.piece)
    }
    for (const piece of pieces) await rewritePiece(tx, packageId, piece)
    const line = { repository: changer.repository, action: 'package.deprecate', actor, occurredAt: now } as const
    await appendJournalOfMany(tx, line, changed)
  })

/** 400 for a version that was never there: somebody wanted to publish it, and the tarball is missing. */
const refuseUnknown = async (
  tx: Transaction,
  changer: Changer,
  said: ReadonlyMap<string, string | null>,
  live: ReadonlySet<string>,
): Promise<void> => {
  for (const version of said.keys())
    if (!live.has(version) && !(await isTaken(tx, changer, version)))
      throw badPackage(`${changer.name} has no version ${version.slice(0, 256)}, and its tarball was not sent.`)
}

/** Stars a package for one who is called so, or takes the star back; those of others stay. */
export const star = (deps: ChangingDeps, changer: Changer, called: string, users: Fields): Promise<Changed> =>
  changePackage(deps, changer, async (tx, packageId) => {
    const found = await findPackage(tx, changer)
    const before: unknown = JSON.parse(found?.stars ?? '[]')
    const others = (Array.isArray(before) ? before : []).filter((name) => name !== called)
    const stars = users[called] === true ? [...others, called] : others
    if (stars.length > npmStarsMax) throw badPackage(`A package has at most ${npmStarsMax} stars.`)
    await updatePackage(tx, { id: packageId, stars: JSON.stringify(stars) })
  })

/** Says whom clients show as owners. Who may publish, the grants of the repository say. */
export const setOwners = (
  deps: ChangingDeps,
  changer: Changer,
  wanted: unknown,
  expected?: string,
): Promise<Changed> => {
  const owners = (Array.isArray(wanted) ? wanted : []).map((each) => {
    const { name, username, email } = objectOf(typeof each === 'string' ? { name: each } : each)
    const called = name ?? username
    if (typeof called !== 'string' || called === '') throw badPackage('An owner has a name.')
    const address = typeof email === 'string' ? email : ''
    if (Math.max(called.length, address.length) > npmOwnerMaxCharacters)
      throw badPackage(`Name and address of an owner have at most ${npmOwnerMaxCharacters} characters.`)
    return { name: called.toWellFormed(), email: address.toWellFormed() }
  })
  if (owners.length === 0) throw badPackage('A package has at least one owner.')
  if (owners.length > npmMaintainersMax) throw badPackage(`A package has at most ${npmMaintainersMax} owners.`)
  return changePackage(
    deps,
    changer,
    async (tx, packageId, { actor, now }) => {
      await updatePackage(tx, { id: packageId, maintainers: JSON.stringify(owners) })
      const line = { artifactId: packageId, detail: changer.name, actor, occurredAt: now }
      await appendJournal(tx, { repository: changer.repository, action: 'package.owners', ...line })
    },
    expected,
  )
}
