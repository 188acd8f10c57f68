import { hash } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import { damage, type Finding } from '../../kernel/finding.ts'
import { findingsMax } from '../../kernel/limits/upkeep.ts'
import { lockBlob } from '../claims/claims.queries.ts'
import { setInline } from '../claims/kept-inline.queries.ts'
import { deleteInline, inlineBytesOf, setInlineDigest } from '../inline/inline.queries.ts'
import { strayInline } from './checks.queries.ts'

/** Inline bytes to row: none lie in the database that no row says are there. */
export async function* checkInline(database: Database): AsyncGenerator<Finding> {
  for (const { sha256, generation, bytes } of await strayInline(database.reader, findingsMax))
    yield damage(`the database holds ${bytes} bytes as ${sha256} (${generation}), which no row says are there`, () =>
      settle(database, generation),
    )
}

/**
 * Where a row of this generation calls just these bytes stored, it says from now on that they are here; else they are
 * nobody's and go. Whatever a row says of them meanwhile is seen under its lock.
 */
const settle = (database: Database, generation: string): Promise<void> =>
  database.transaction(async (tx) => {
    const bytes = await inlineBytesOf(tx, generation)
    if (bytes === undefined) return
    const found: string = hash('sha256', bytes)
    const blob = await lockBlob(tx, found)
    if (blob?.generation === generation && blob.state === 'stored' && blob.size === bytes.byteLength) {
      await setInlineDigest(tx, { generation, digest: found })
      await setInline(tx, { digest: found, inline: 1 })
    } else await deleteInline(tx, generation)
  })
