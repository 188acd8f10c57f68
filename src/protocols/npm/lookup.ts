import { valid } from 'semver'
import { Failure } from '../../kernel/failure.ts'
import { findFile } from './packages.queries.ts'
import {
  type AskedDocument,
  distTagsOf,
  documentOf,
  type FoundDocument,
  manifestOf,
  ownPackage,
  type PackageName,
  type ReadingDeps,
  type ReadTags,
  versionIn,
} from './reading.ts'
import { fileUnknown, notPublishedHere, packageUnknown, versionUnknown } from './refusals.ts'
import { cachedManifest, cachedPackage, cachedTags } from './upstream/cached-reading.ts'
import type { Asker, Upstream } from './upstream/upstream.ts'
import { isTag, tarballName } from './vocabulary.ts'

/*
 * What clients find in a repository: what is published there, and, under names that were never used there, what its
 * upstream has.
 */

export interface LookupDeps extends ReadingDeps {
  readonly npmUpstream: Upstream
}

/** A document of a package in the form that is asked for. 404 without one. */
export const lookUpDocument = async (
  deps: LookupDeps,
  here: PackageName,
  asked: AskedDocument,
  asker: Asker,
): Promise<FoundDocument> => {
  const own = await ownPackage(deps, here)
  if (own !== null) return await documentOf(deps, here.name, own, asked)
  const cached = await deps.npmUpstream.packageOf(here, asker)
  if (cached === null) throw packageUnknown(here.name)
  return await documentOf(deps, here.name, cachedPackage(cached), asked)
}

/** The manifest of a version, which a tag may name, as JSON. 404 without one. */
export const lookUpManifest = async (
  deps: LookupDeps,
  here: PackageName,
  called: string,
  registry: string,
  asker: Asker,
): Promise<string> => {
  const own = await manifestOf(deps, here, called, registry)
  if (own !== null) return own
  const cached = await deps.npmUpstream.packageOf(here, asker)
  if (cached !== null) {
    const version = valid(called) ?? (isTag(called) ? cachedTags(cached)[called] : undefined)
    const found = version === undefined ? null : await cachedManifest(deps.database.reader, cached, version, registry)
    if (found !== null) return found
  }
  throw versionUnknown(here.name, called)
}

/** The tarball of a package that a client calls so, also with the scope before its name. 404 without one. */
export const lookUpFile = async (deps: LookupDeps, here: PackageName, file: string, asker: Asker) => {
  const version = versionIn(here.name, file)
  if (version === null) throw fileUnknown(here.name, file)
  const found =
    (await findFile(deps.database.reader, here, version)) ?? (await deps.npmUpstream.fileOf(here, version, asker))
  if (found === null) throw fileUnknown(here.name, file)
  return { sha256: found.sha256, size: found.size, name: tarballName(here.name, version) }
}

/** The tags of a package with their versions. 404 without one. */
export const lookUpDistTags = async (deps: LookupDeps, here: PackageName, asker: Asker): Promise<ReadTags> => {
  const own = await distTagsOf(deps.database.reader, here)
  if (own !== null) return own
  const cached = await deps.npmUpstream.packageOf(here, asker)
  if (cached === null) throw packageUnknown(here.name)
  return { state: cached, tags: cachedTags(cached) }
}

/**
 * Changes a package that is published here. 400 for one that only comes from the upstream: clients take 404 for success
 * where they take something away.
 */
export const changeOwn = async <T>(
  { npmUpstream }: Pick<LookupDeps, 'npmUpstream'>,
  here: PackageName,
  change: () => Promise<T>,
): Promise<T> => {
  try {
    return await change()
  } catch (error) {
    if (error instanceof Failure && error.code === 'not_found' && (await npmUpstream.has(here)))
      throw notPublishedHere(here.name)
    throw error
  }
}
