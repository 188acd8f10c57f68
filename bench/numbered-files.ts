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
 * Publishes so many numbers more, as the rows that publishing leaves. The database, which is SQLite, makes them of the
 * names alone: six million rows that come one by one take minutes.
 */
export const publishNumbered = async (database: Database, store: NumberedBlobs, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= numbersAtOnce) {
    const numbers = JSON.stringify(Array.from({ length: Math.min(left, numbersAtOnce) }, () => store.add()))
    await database.transaction(
      async (tx) => {
        for (const insert of inserts(timestamp(Date.now())))
          await sql`${insert} from (select value->>0 as number, value->>1 as sha256, value->>2 as generation from json_each(${numbers}))`.execute(
            tx,
          )
      },
      { durability: 'relaxed' },
    )
  }
}

const numbersAtOnce = 20_000

const inserts = (at: string): readonly RawBuilder<unknown>[] => {
  const id = sql`printf('01900000-0000-7000-8000-%012x', number)`
  const path = sql`printf('teams/%d/builds/%d/service-%d.tar.gz', number % 12, number / 100, number)`
  const size = sql.lit(contentBytes)
  return [
    sql`insert into blobs (sha256, size, state, stored_at, generation, inline)
      select sha256, ${size}, 'stored', ${at}, generation, 0`,
    sql`insert into claims (id, repository, holder, sha256, size, state)
      select ${id}, 'releases', 'artifact', sha256, ${size}, 'live'`,
    sql`insert into artifacts
        (id, repository, name, size, sha256, labels, metadata, created_at, expires_at, published_at)
      select ${id}, 'releases', printf('service-%d.tar.gz', number), ${size}, sha256, '["ci"]', '{}', ${at}, ${at}, ${at}`,
    sql`insert into asset_revisions (repository, path, revision, artifact_id, actor, created_at)
      select 'releases', ${path}, 1, ${id}, 'bench', ${at}`,
    sql`insert into assets (repository, path, revision, artifact_id) select 'releases', ${path}, 1, ${id}`,
    sql`insert into journal (repository, sequence, action, artifact_id, detail, actor, occurred_at)
      select 'releases', number + 1, 'artifact.publish', ${id}, null, 'bench', ${at}`,
  ]
}
