import type { Row } from '../../../database/moving/rows.queries.ts'
import { isTableName } from '../../../database/moving/tables.ts'
import { Failure } from '../../../kernel/failure.ts'
import { entriesAheadMax, partFilesMax } from '../../../kernel/limits/backups.ts'
import { toVaultName } from '../../../ports/vault-name.ts'
import type { Restorable, RestorableTable } from '../moving/restorable.ts'
import { refuseUnlessStoreTakes } from '../moving/restore-blobs.ts'
import { linesOf, rowIn } from './chunks.ts'
import { contentsOf, filesOf } from './contents.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import type { Entry } from './entries.ts'
import { KnownEntries } from './known-entries.ts'
import { lyingBelow } from './lying.ts'
import type { Manifest } from './manifest.ts'
import { namedBlobs } from './named-blobs.ts'
import { PackReader } from './pack-reader.ts'

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
  return {
    digest: manifest.digest,
    kind: 'backup',
    withBytes: true,
    counted: manifest.blobs,
    tables,
    async *blobs() {
      const entries = new KnownEntries([contentsOf(room, manifest.contents)])
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
    async *bytesOf({ digest }) {
      const entry = known.get(digest)
      if (entry === undefined) throw new RangeError(`nobody has named the blob ${digest}`)
      known.delete(digest)
      yield* packs.bytesOf(entry)
    },
    damaged: ({ digest }, why) => new Failure('invalid_request', `The blob ${digest} is damaged in the vault: ${why}`),
    async check({ store, freeSpace }, progress) {
      const told = (files: number): void => progress.tell(() => `checked ${files} files of the vault`)
      await checkStructure(room, manifest, { told })
      if ((await store.space()) !== null) await refuseUnlessStoreTakes(freeSpace, manifest.blobs.bytes)
    },
  }
}

interface Looking {
  readonly told?: (files: number) => void
  /** Throws where whoever looks is to stop. */
  readonly goOn?: () => void
}

/**
 * Looks whether everything that a point names is there with its length, and adds up to what its manifest counts. Throws
 * {@link BackupDamaged}.
 */
export const checkStructure = async (
  room: Room,
  manifest: Manifest,
  { told = () => {}, goOn }: Looking = {},
): Promise<void> => {
  const { vault } = room
  const sizes = new SizesByPart(room, goOn)
  let files = 0
  for await (const { name, bytes } of filesOf(room, manifest)) {
    const there = await sizes.of(name)
    if (there === null) throw new BackupDamaged('missing', name, '')
    if (there !== bytes) throw new BackupDamaged('damaged', name, `it has ${there} bytes instead of ${bytes}`)
    told(++files)
    goOn?.()
  }
  for (const { name, rows, chunks } of manifest.tables)
    if (chunks.reduce((sum, { lines }) => sum + lines, 0) !== rows)
      throw new Failure('invalid_request', `The manifest in ${vault.where} counts other rows of ${name} than it names.`)
  const listed = manifest.contents.reduce((sum, { lines }) => sum + lines, 0)
  if (listed !== manifest.blobs.count)
    throw new Failure('invalid_request', `The manifest in ${vault.where} counts other blobs than its list has.`)
}

/** Lengths of files, looked up by lists of whole parts where many of one part are asked for, one after another. */
class SizesByPart {
  readonly #room: Room
  readonly #goOn: (() => void) | undefined
  #part = ''
  #asked = 0
  #listed: ReadonlyMap<string, number> | null = null
  readonly #alone = new Map<string, number | null>()

  constructor(room: Room, goOn: (() => void) | undefined) {
    this.#room = room
    this.#goOn = goOn
  }

  async of(name: Entry['stored']['name']): Promise<number | null> {
    const part = name.slice(0, 'data/00'.length)
    if (part !== this.#part) {
      this.#part = part
      this.#asked = 0
      this.#listed = null
    }
    this.#listed ??= ++this.#asked > askedAloneMax ? await this.#list() : null
    if (this.#listed !== null) return this.#listed.get(name) ?? null
    const known = this.#alone.get(name)
    if (known !== undefined) return known
    const size = await this.#room.vault.size(name)
    // Packs and chunks come again; there are few of them.
    if (!name.includes('.blob')) this.#alone.set(name, size)
    return size
  }

  async #list(): Promise<ReadonlyMap<string, number>> {
    const listed = new Map<string, number>()
    const listing = { most: partFilesMax, goOn: this.#goOn }
    for await (const { name, bytes } of lyingBelow(this.#room.vault, toVaultName(this.#part), listing))
      listed.set(name, bytes)
    return listed
  }
}

const askedAloneMax = 16
