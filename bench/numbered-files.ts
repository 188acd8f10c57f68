import { hash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../src/database/database.ts'
import { timestamp } from '../src/kernel/clock.ts'
import { type BlobName, generationOf } from '../src/ports/blob-name.ts'
import { BlobMissing, type BlobStore } from '../src/ports/blob-store.ts'

/**
 * A store of numbers: what is called so has its digits as its content. Its generation tells which it is, so that the
 * store has none of them in memory.
 */
export class NumberedBlobs implements Pick<BlobStore, 'size' | 'open'> {
  count = 0

  /** The next number, its digest and its generation. */
  add(): readonly [number, string, string] {
    const number = this.count++
    return [number, hash('sha256', contentOf(number)), number.toString(16).padStart(32, '0')]
  }

  async size(name: BlobName): Promise<number | null> {
    return numberOf(name) < this.count ? contentBytes : null
  }

  async open(name: BlobName): Promise<AsyncIterableIterator<Uint8Array>> {
    const number = numberOf(name)
    if (number >= this.count) throw new BlobMissing(`no number is called ${name}`)
    return (async function* () {
      yield contentOf(number)
    })()
  }
}

const numberOf = (name: BlobName): number => Number.parseInt(generationOf(name), 16)

const contentBytes = 64

const contentOf = (number: number): Buffer => Buffer.from(`${number}`.padStart(contentBytes, '0'))

/**
 * Publishes so many numbers more, as the rows that publishing leaves. The database makes them of what they are called
 * alone: six million rows that come one by one take minutes.
 */
export const publishNumbered = async (database: Database, store: NumberedBlobs, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= numbersAtOnce) {
    const numbers = JSON.stringify(Array.from({ length: Math.min(left, numbersAtOnce) }, () => named(store.add())))
    const from =
      database.engine === 'sqlite'
        ? sql`select ${columns(sql`value`)} from json_each(${numbers})`
        : sql`select ${columns(sql`value`)} from jsonb_array_elements(${numbers}::jsonb)`
    await database.transaction(
      async (tx) => {
        for (const insert of inserts(timestamp(Date.now()))) await sql`${insert} from (${from}) as n`.execute(tx)
      },
      { durability: 'relaxed' },
    )
  }
}

const numbersAtOnce = 20_000

const named = ([number, sha256, generation]: readonly [number, string, string]) => [
  number + 1,
  sha256,
  generation,
  `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`,
  `service-${number}.tar.gz`,
  `teams/${number % 12}/builds/${Math.floor(number / 100)}/service-${number}.tar.gz`,
]

const columns = (value: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`cast(${value}->>0 as bigint) as number, ${value}->>1 as sha256, ${value}->>2 as generation,
    ${value}->>3 as id, ${value}->>4 as name, ${value}->>5 as path`

const inserts = (at: string): readonly RawBuilder<unknown>[] => {
  const size = sql.lit(contentBytes)
  const now = sql.lit(at)
  return [
    sql`insert into blobs (sha256, size, state, stored_at, generation, inline)
      select sha256, ${size}, 'stored', ${now}, generation, 0`,
    sql`insert into claims (id, repository, holder, sha256, size, state)
      select id, 'releases', 'artifact', sha256, ${size}, 'live'`,
    sql`insert into artifacts
        (id, repository, name, size, sha256, labels, metadata, created_at, expires_at, published_at)
      select id, 'releases', name, ${size}, sha256, '["ci"]', '{}', ${now}, ${now}, ${now}`,
    sql`insert into asset_revisions (repository, path, revision, artifact_id, actor, created_at)
      select 'releases', path, 1, id, 'bench', ${now}`,
    sql`insert into assets (repository, path, revision, artifact_id) select 'releases', path, 1, id`,
    sql`insert into journal (repository, sequence, action, artifact_id, detail, actor, occurred_at)
      select 'releases', number, 'artifact.publish', id, null, 'bench', ${now}`,
  ]
}
