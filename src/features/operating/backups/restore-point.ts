import type { Row } from '../../../database/moving/rows.queries.ts'
import { isTableName } from '../../../database/moving/tables.ts'
import { Failure } from '../../../kernel/failure.ts'
import { entriesAheadMax } from '../../../kernel/limits/backups.ts'
import type { NamedBlob } from '../moving/named-blobs.ts'
import type { Restorable, RestorableTable } from '../moving/restorable.ts'
import { refuseUnlessStoreTakes } from '../moving/restore-blobs.ts'
import { linesOf, rowIn } from './chunks.ts'
import { pagesOfContents } from './contents.ts'
import type { Room } from './data-files.ts'
import type { Entry } from './entries.ts'
import { KnownEntries } from './known-entries.ts'
import type { Manifest } from './manifest.ts'
import { namedBlobs } from './named-blobs.ts'
import { PackReader } from './pack-reader.ts'
import { Structure } from './structure.ts'

/** A point as what is put into an empty database. Of its packs those that were read last stay in memory. */
export const restorablePoint = (room: Room, manifest: Manifest): Restorable => {
  const tables = manifest.tables.map((table): RestorableTable => {
    if (!isTableName(table.name))
      throw new Failure(
        'invalid_request',
        `The point has a table ${table.name}, which this version of svc does not know. Restore it with svc ${manifest.program}.`,
      )
    return { ...table, name: table.name, pieces: table.chunks.map(({ lines }) => ({ rows: lines })) }
  })
  const packs = new PackReader(room)
  /** Where the blobs are that were named last, until they are read. */
  const known = new Map<string, Entry>()
  const entryOf = ({ digest }: NamedBlob): Entry => {
    const entry = known.get(digest)
    if (entry === undefined) throw new RangeError(`nobody has named the blob ${digest}`)
    known.delete(digest)
    return entry
  }
  return {
    digest: manifest.digest,
    kind: 'backup',
    withBytes: true,
    counted: manifest.blobs,
    tables,
    async *blobs() {
      const entries = new KnownEntries([pagesOfContents(room, manifest.contents)])
      for await (const blob of namedBlobs(room, manifest.tables)) {
        const [entry] = await entries.of(blob.digest)
        if (entry === undefined)
          throw new Failure('invalid_request', `The list of the point does not name the blob ${blob.digest}.`)
        known.set(blob.digest, entry)
        // Those that the store has already are never asked for.
        const [oldest] = known.keys()
        if (known.size > entriesAheadMax && oldest !== undefined) known.delete(oldest)
        packs.readAhead(entry)
        yield blob
      }
    },
    rowsOf: async (table, index): Promise<Row[]> => {
      const chunk = manifest.tables.find(({ name }) => name === table.name)?.chunks[index]
      if (chunk === undefined) throw new RangeError(`no chunk ${index} of ${table.name}`)
      return (await linesOf(room, chunk)).map((line) => rowIn(chunk, line, table.columns))
    },
    bytesOf: (blob) => packs.bytesOf(entryOf(blob)),
    wholeOf: (blob, work) => packs.wholeOf(entryOf(blob), work),
    damaged: ({ digest }, why) => new Failure('invalid_request', `The blob ${digest} is damaged in the vault: ${why}`),
    async check({ store, freeSpace }, progress) {
      const told = (files: number): void => progress.tell(() => `checked ${files} files of the vault`)
      await new Structure(room).check(manifest, told)
      if ((await store.space()) !== null) await refuseUnlessStoreTakes(freeSpace, manifest.blobs.bytes)
    },
  }
}
