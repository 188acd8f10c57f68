import { valid } from 'semver'
import { type Changed, type Changer, type ChangingDeps, deprecate, setOwners, star } from '../changing.ts'
import { hasOf, objectOf } from '../fields.ts'
import { badPackage } from '../refusals.ts'
import { Rounds } from '../rounds.ts'
import { unpublish } from '../unpublishing.ts'
import { refuseName } from './claimed.ts'
import { type IncomingDocument, jsonObject } from './document.ts'

/**
 * What clients say of a package by a document without a tarball: with versions in it, which of them are deprecated;
 * without, who starred it.
 */
export const changeBySaying = async (
  deps: ChangingDeps,
  changer: Changer,
  called: string,
  document: IncomingDocument,
): Promise<Changed> => {
  refuseName(changer.name)
  const rest = document.rest()
  if (document.versions.size > 0) return await deprecate(deps, changer, await deprecationsIn(document))
  if (hasOf(rest, 'users')) return await star(deps, changer, called, objectOf(rest['users']))
  throw badPackage('The document has no tarball, no versions and no stars: there is nothing in it to do.')
}

/** Of each version that a document tells of, what it says of its deprecation. */
const deprecationsIn = async ({ versions }: IncomingDocument): Promise<ReadonlyMap<string, string | null>> => {
  const said = new Map<string, string | null>()
  const rounds = new Rounds()
  for (const [key, text] of versions) {
    await rounds.before(text)
    const { deprecated } = jsonObject(text, `The version ${key}`)
    said.set(valid(key) ?? key, typeof deprecated === 'string' ? deprecated : null)
  }
  return said
}

/** What clients say of the package at one of its states: which versions are left, or who its owners are. */
export const changeAtRevision = (
  deps: ChangingDeps,
  changer: Changer,
  revision: string,
  document: IncomingDocument,
): Promise<Changed> => {
  const rest = document.rest()
  if (document.versions.size > 0) {
    const left = new Set([...document.versions.keys()].map((key) => valid(key) ?? key))
    return unpublish(deps, changer, (version) => !left.has(version), revision)
  }
  // Whoever forgot all of them does not mean the owners that stand beside.
  if (hasOf(rest, 'versions'))
    throw badPackage('The document leaves no version. Take the package away as a whole: DELETE at this address.')
  if (hasOf(rest, 'maintainers')) return setOwners(deps, changer, rest['maintainers'], revision)
  throw badPackage('The document has neither versions nor owners: there is nothing in it to do.')
}
