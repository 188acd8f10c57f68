/**
 * Plays power cuts. The disk is modelled from what is promised about it and nothing more:
 *
 * - A sync makes durable what stood in the log when it *began*, and only once it has ended.
 * - Of what was written since, each sector may have arrived or not: the old one, the new one, or nothing where there
 *   was no file yet.
 * - A checkpoint syncs the log, copies pages into the database file, and syncs that file if it copied all (that SQLite
 *   does so is visible with strace: `strace -f -y -e pwrite64,fdatasync,fsync node …`); pages of a partial copy may
 *   arrive or not.
 * - A log that starts again has its new header synced before frames follow it (visible in the same way).
 *
 * The database that recovery makes of such a disk must hold every acknowledged transaction, and hold transactions whole
 * and in order of their commits. What a failed sync leaves to the next process takes processes that end:
 * test/faults/power-cuts.test.ts.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { sql } from 'kysely'
import { randomOf } from '../../../test/harness/random.ts'
import { migrate } from '../migrate.ts'
import { failOnReport, notesSchema } from '../notes.suite.ts'
import { SqliteDatabase } from './database.ts'
import { openWalFile } from './wal-file.ts'

const sector = 512
const page = 4_096
/** Of the log. */
const header = 32
const writers = 8
const rounds = Number(process.env['SVC_TEST_POWER_CUTS'] ?? 15)

/** What may be found after a cut: for each block the durable or the written state, and a length between the two. */
const torn = (durable: Buffer, written: Buffer, block: number, random: () => number): Buffer => {
  const kinds = ['all', 'nothing', 'some'] as const
  const kind = kinds[Math.floor(random() * kinds.length)]
  const blocks = Math.ceil(Math.max(durable.length, written.length) / block)
  const parts = Array.from({ length: blocks }, (_, i) => {
    const arrived = kind === 'all' || (kind === 'some' && random() < 0.5)
    const found = (arrived ? written : durable).subarray(i * block, (i + 1) * block)
    // Beyond the durable end the file may have grown while the bytes did not arrive.
    return found.length > 0 || kind !== 'some' ? found : Buffer.alloc(block)
  })
  return Buffer.concat(parts)
}

/** Whether the log did not start again between the two images. */
const isOneLog = (a: Buffer, b: Buffer): boolean => a.subarray(0, header).equals(b.subarray(0, header))

class ModelledDisk {
  readonly #path: string
  #durableLog: Buffer
  #durableFile: Buffer
  #checkpoints = 0

  constructor(path: string) {
    this.#path = path
    this.#durableFile = readFileSync(path)
    this.#durableLog = readFileSync(`${path}-wal`)
  }

  /** The log as it stands; the caller says when it has become durable. */
  syncBegins(): () => void {
    const image = this.#log()
    const checkpoints = this.#checkpoints
    return () => {
      if (checkpoints !== this.#checkpoints) return // A checkpoint has synced more meanwhile.
      this.#log()
      // A log that started again meanwhile has its header on the disk, and what this sync covered is in the database
      // file.
      if (isOneLog(image, this.#durableLog)) this.#durableLog = image
    }
  }

  checkpoint(connection: DatabaseSync, mode: 'passive' | 'restart'): void {
    this.#durableLog = this.#log()
    this.#checkpoints++
    const before = this.#durableFile
    const result = connection.prepare(`pragma wal_checkpoint(${mode})`).get()
    this.#durableFile = result?.['log'] === result?.['checkpointed'] ? readFileSync(this.#path) : before
  }

  cut(random: () => number, path: string): void {
    writeFileSync(path, torn(this.#durableFile, readFileSync(this.#path), page, random))
    const written = this.#log() // First: it notices what else is durable.
    writeFileSync(`${path}-wal`, torn(this.#durableLog, written, sector, random))
  }

  /** The log as it is written now, after noticing whether it has started again. */
  #log(): Buffer {
    const written = readFileSync(`${this.#path}-wal`)
    if (!isOneLog(written, this.#durableLog))
      this.#durableLog = Buffer.concat([written.subarray(0, header), this.#durableLog.subarray(header)])
    return written
  }
}

interface Round {
  readonly lost: number
  readonly cuts: number
}

const play = async (seed: number, folder: string, honest: boolean): Promise<Round> => {
  const random = randomOf(`power cuts ${seed}`)
  const path = join(folder, `${seed}.db`)
  let disk: ModelledDisk | undefined
  const openWal: typeof openWalFile = (databasePath) => {
    const wal = openWalFile(databasePath)
    const sync = async (): Promise<void> => {
      const completed = disk?.syncBegins()
      await wal.sync()
      for (let rounds = Math.floor(random() * 4); rounds > 0; rounds--) await nextRound()
      if (honest) completed?.()
    }
    return { ...wal, sync }
  }
  const database = new SqliteDatabase({ path, report: failOnReport, openWal })
  await migrate(database, notesSchema)
  // The model has to see every checkpoint. Those that SQLite makes by itself do the same, on the connection that
  // writes.
  await database.transaction(async (tx) => void (await sql`pragma wal_autocheckpoint = 0`.execute(tx)))
  const other = new DatabaseSync(path)
  other.exec('pragma wal_autocheckpoint = 0; pragma wal_checkpoint(truncate); pragma synchronous = normal')
  await database.transaction(async (tx) => void (await sql`insert into notes (id, body) values (0, '')`.execute(tx)))
  disk = new ModelledDisk(path)
  const model = disk
  let acknowledged = 0
  let over = false
  let lost = 0
  let cuts = 0

  const append = async (): Promise<void> => {
    const body = 'x'.repeat(Math.floor(random() * 12_000))
    const relaxed = random() < 0.2
    const id = await database.transaction(
      async (tx) => {
        const { rows } = await sql<{ next: number }>`select max(id) + 1 as next from notes`.execute(tx)
        const next = rows[0]?.next ?? 0
        await sql`insert into notes (id, body) values (${next}, ${body})`.execute(tx)
        if (random() < 0.3) await nextRound()
        return next
      },
      relaxed ? { durability: 'relaxed' } : {},
    )
    // A relaxed one promises nothing; what was settled afterwards does.
    const way = random()
    if (way < 0.3) await database.settled()
    else if (way < 0.6) await database.transaction(async () => {})
    else if (relaxed) return
    acknowledged = Math.max(acknowledged, id)
  }

  const write = async (): Promise<void> => {
    while (!over) await append()
  }

  const check = (): void => {
    const recovered = join(folder, `${seed}-${cuts++}.db`)
    model.cut(random, recovered)
    const found = new DatabaseSync(recovered)
    assert.equal(found.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok')
    const { last, many } = found.prepare('select max(id) as last, count(*) as many from notes').get() ?? {}
    found.close()
    assert.equal(many, Number(last) + 1, 'transactions are recovered in the order of their commits')
    if (Number(last) < acknowledged) lost++
  }

  const writing = Array.from({ length: writers }, write)
  try {
    for (let event = 0; event < 60; event++) {
      for (let rounds = Math.floor(random() * 6); rounds > 0; rounds--) await nextRound()
      if (random() < 0.15) model.checkpoint(other, random() < 0.5 ? 'passive' : 'restart')
      if (random() < 0.5) check()
    }
  } finally {
    over = true
    await Promise.all(writing)
  }
  check()
  other.close()
  await database[Symbol.asyncDispose]()
  return { lost, cuts }
}

describe('a power cut', () => {
  it('takes nothing that was acknowledged, wherever it happens', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-power-cut-'))
    try {
      for (let seed = 1; seed <= rounds; seed++) {
        const { lost } = await play(seed, folder, true)
        assert.equal(lost, 0, `seed ${seed}`)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('is seen to take something when syncs lie (the test can fail)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-power-cut-'))
    try {
      let lost = 0
      for (let seed = 1; seed <= 5; seed++) lost += (await play(seed, folder, false)).lost
      assert(lost > 0)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
