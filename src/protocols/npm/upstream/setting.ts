import type { Database, Queries } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { NpmUpstreamsTable } from '../../../database/tables/npm-upstreams.ts'
import { type Actor, appendSecurityAudit, changeAuthority } from '../../../journal/security-audit/security-audit.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { entityTagsWanted, parseEntityTags } from '../../../kernel/entity-tags.ts'
import { Failure, invalid, notFound } from '../../../kernel/failure.ts'
import { npmUpstreamFreshSecondsDefault, npmUpstreamUrlMaxCharacters } from '../../../kernel/limits/npm-upstream.ts'
import { outwardAddressFault } from '../../../kernel/outward-address.ts'
import { findUpstream, writeUpstream } from './setting.queries.ts'

/** The registry to which a repository looks through. */
export interface UpstreamSetting {
  readonly revision: number
  /** Without a slash at its end. */
  readonly url: string
  /** Patterns of names that are never asked for there. */
  readonly reserved: readonly string[]
  readonly freshSeconds: number
  readonly savedAt: string
  readonly actor: string
}

interface SettingDeps {
  readonly database: Database
  readonly clock: Clock
}

/** Null where the repository looks through to none. */
export const upstreamOf = async (q: Queries, repository: string): Promise<UpstreamSetting | null> =>
  settingOf(await findUpstream(q, repository))

const settingOf = (row: NpmUpstreamsTable | undefined): UpstreamSetting | null => {
  if (row === undefined || row.url === null) return null
  const reserved: unknown = JSON.parse(row.reserved)
  return {
    revision: row.revision,
    url: row.url,
    reserved: Array.isArray(reserved) ? reserved.map(String) : [],
    freshSeconds: row.fresh_seconds,
    savedAt: row.saved_at,
    actor: row.actor,
  }
}

/** By which a client says which state of the setting it has seen. */
export const etagOf = ({ revision, savedAt }: Pick<UpstreamSetting, 'revision' | 'savedAt'>): string =>
  `"${revision}-${Date.parse(savedAt)}"`

/** What a client expects of the setting that it replaces or takes away (RFC 9110, section 13.1). */
export interface Expected {
  readonly ifMatch: string | undefined
  readonly ifNoneMatch?: string | undefined
}

const refuseUnlessAsExpected = (found: UpstreamSetting | null, { ifMatch, ifNoneMatch }: Expected): void => {
  const etag = found === null ? null : etagOf(found)
  const isAmong = (header: 'if-match' | 'if-none-match', sent: string): boolean => {
    const tags = parseEntityTags(sent)
    if (tags === null) throw invalid(`/headers/${header}`, entityTagsWanted)
    return etag !== null && (tags === '*' || tags.some(({ weak, opaque }) => !weak && opaque === etag))
  }
  const failed = (header: string): Failure =>
    new Failure(
      'precondition_failed',
      `${etag === null ? 'The repository has no upstream' : `The upstream has the ETag ${etag}`}, which ${header} does not allow. Read it again, then decide.`,
    )
  if (ifMatch !== undefined && !isAmong('if-match', ifMatch)) throw failed('If-Match')
  if (ifNoneMatch !== undefined && isAmong('if-none-match', ifNoneMatch)) throw failed('If-None-Match')
}

/** 404 for a repository that looks through to none, and for one that is none. */
const noUpstream = (): Failure => notFound('repository with an upstream')

export const getUpstream = async (q: Queries, repository: string): Promise<UpstreamSetting> => {
  const found = await upstreamOf(q, repository)
  if (found === null) throw noUpstream()
  return found
}

/** What an administrator says of an upstream. */
export interface WantedUpstream {
  readonly url: string
  readonly reserved?: readonly string[]
  readonly freshSeconds?: number
}

/**
 * Says to which registry a repository looks through. Whether it may be asked is seen when it is asked. 404 without the
 * repository, 412 where the setting is not as expected.
 */
export const putUpstream = async (
  deps: SettingDeps,
  repository: string,
  { url, reserved = [], freshSeconds = npmUpstreamFreshSecondsDefault }: WantedUpstream,
  expected: Expected,
  actor: Actor,
): Promise<UpstreamSetting> => {
  const fault = outwardAddressFault(url, npmUpstreamUrlMaxCharacters)
  if (fault !== null) throw invalid('/url', fault)
  const told = {
    url: new URL(url).href.replace(/\/+$/, ''),
    reserved: JSON.stringify(reserved),
    fresh_seconds: freshSeconds,
  }
  const saved = settingOf(await change(deps, repository, told, expected, actor))
  if (saved === null) throw noUpstream()
  return saved
}

/** Looks through no more. What came from there stays until it is dropped, and is not served. 404 and 412 as above. */
export const deleteUpstream = async (
  deps: SettingDeps,
  repository: string,
  expected: Expected,
  actor: Actor,
): Promise<void> => {
  await change(deps, repository, null, expected, actor)
}

const change = (
  { database, clock }: SettingDeps,
  repository: string,
  told: Pick<NpmUpstreamsTable, 'url' | 'reserved' | 'fresh_seconds'> | null,
  expected: Expected,
  actor: Actor,
): Promise<NpmUpstreamsTable> =>
  changeAuthority(database, actor, async (tx) => {
    if (!(await lockRepository(tx, repository))) throw notFound('repository')
    const row = await findUpstream(tx, repository)
    const found = settingOf(row)
    refuseUnlessAsExpected(found, expected)
    if (told === null && found === null) throw noUpstream()
    const now = timestamp(clock.now())
    const next: NpmUpstreamsTable = {
      ...(told ?? { url: null, reserved: '[]', fresh_seconds: npmUpstreamFreshSecondsDefault }),
      ...{ repository, revision: (row?.revision ?? 0) + 1, saved_at: now, actor: actor.actor },
    }
    await writeUpstream(tx, next)
    const action = told === null ? 'npm-upstream.remove' : 'npm-upstream.set'
    await appendSecurityAudit(tx, actor, { action, subject: `repository:${repository}`, occurredAt: now })
    return next
  })
