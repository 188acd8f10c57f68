import type { FreeSpace } from '../../../content/ingest/free-space.ts'
import type { Database } from '../../../database/database.ts'
import type { Row } from '../../../database/moving/rows.queries.ts'
import type { TableName } from '../../../database/moving/tables.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import type { BlobStore } from '../../../ports/blob-store.ts'
import type { NamedBlob } from './named-blobs.ts'
import type { Progress } from './progress.ts'

export interface StoringDeps {
  readonly database: Database
  readonly store: BlobStore
  readonly freeSpace: FreeSpace
  readonly reach: ReachFaultPoint
}

/** What is put into an empty database: a finished export, or a point of a backup. */
export interface Restorable {
  /** Names this very one. */
  readonly digest: string
  /** What it is, as in "the svc import of another export": for sentences that refuse. */
  readonly kind: 'export' | 'backup'
  /** Whether its bytes go into the store, or are there already. */
  readonly withBytes: boolean
  readonly counted: { readonly count: number; readonly bytes: number }
  /** In an order in which every row finds what it refers to. */
  readonly tables: readonly RestorableTable[]
  /** Every stored blob that it names, in the order of their digests. */
  blobs(): AsyncIterable<NamedBlob>
  rowsOf(table: RestorableTable, index: number): Promise<Row[]>
  /** The pieces belong to whoever asks. */
  bytesOf(blob: NamedBlob): AsyncIterable<Uint8Array>
  /** Works on a blob that has room in memory, whole. It stays there until the work is done, and no longer. */
  wholeOf(blob: NamedBlob, work: (whole: Uint8Array) => Promise<void>): Promise<void>
  /** What to throw where the bytes of a blob are not what it is called. */
  damaged(blob: NamedBlob, why: string): Error
  /** Looks at what can be looked at before anything is changed. */
  check(deps: StoringDeps, progress: Progress): Promise<void>
}

export interface RestorableTable {
  readonly name: TableName
  readonly columns: readonly string[]
  readonly rows: number
  /** Rows of each of its pieces. */
  readonly pieces: readonly { readonly rows: number }[]
}
