import { sql } from 'kysely'
import type { Queries } from '../../../database/database.ts'

/** Tarballs of upstreams that have no live claim as they are. */
export const cachedWithoutClaim = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ version: string }>`
    select v.repository || '/' || v.name || '@' || v.version as version from npm_cached_versions v
    where not exists (select 1 from claims c
      where c.id = v.id and c.sha256 = v.sha256 and c.size = v.size and c.state = 'live')
    limit ${limit}`.execute(q)
  return rows.map(({ version }) => version)
}

/** Packages of upstreams whose documents take other room than their pieces do. */
export const documentsMiscounted = async (q: Queries, limit: number): Promise<string[]> => {
  const { rows } = await sql<{ package: string }>`
    select p.repository || '/' || p.name as package from npm_cached_packages p
    where p.bytes <> coalesce((select sum(length(d.bytes)) from npm_cached_pieces d where d.package_id = p.id), 0)
    limit ${limit}`.execute(q)
  return rows.map(({ package: name }) => name)
}
