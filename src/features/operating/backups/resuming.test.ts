import assert from 'node:assert/strict'
import { hash, randomBytes, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { freshVault, removeVault, roomOf, spoolBeside } from '../../../../test/harness/backups.ts'
import { onSqlite } from '../../../../test/harness/engines.ts'
import { openOwnEngines } from '../../../../test/harness/own-engines.ts'
import type { Database } from '../../../database/database.ts'
import { movingTables } from '../../../database/moving/tables.ts'
import { KiB, MiB } from '../../../kernel/units.ts'
import { digestOfName } from '../../../ports/blob-name.ts'
import { BlobMissing, type BlobStore } from '../../../ports/blob-store.ts'
import { capture } from './capture.ts'
import type { Room } from './data-files.ts'

/** What a capture writes and reads. */
interface Counted {
  rowBytes: number
  fileBytes: number
  otherBytes: number
  readBytes: number
}

const none = (): Counted => ({ rowBytes: 0, fileBytes: 0, otherBytes: 0, readBytes: 0 })

/** A vault that counts what gets a name there. */
const counting = (room: Room, counted: Counted): Room => ({
  ...room,
  vault: {
    ...room.vault,
    async write(name, bytes, from) {
      let length = 0
      const written = await room.vault.write(name, bytes, (take) =>
        from(async (piece) => {
          length += piece.byteLength
          await take(piece)
        }),
      )
      if (written && name.includes('.rows')) counted.rowBytes += length
      else if (written && /\.(?:blob|pack)/.test(name)) counted.fileBytes += length
      else if (written) counted.otherBytes += length
      return written
    },
    async create(name, bytes) {
      counted.otherBytes += bytes.byteLength
      return await room.vault.create(name, bytes)
    },
  },
})

/** Files in memory, of which the database has rows: three packs of small ones, and some large ones. */
const stored = async (database: Database): Promise<ReadonlyMap<string, Buffer>> => {
  const files = new Map<string, Buffer>()
  const add = (bytes: Buffer): void => void files.set(hash('sha256', bytes), bytes)
  for (let small = 0; small < 3_600; small++) add(randomBytes(12 * KiB))
  for (let large = 0; large < 4; large++) add(randomBytes(1.5 * MiB))
  await database.transaction(async (tx) => {
    for (const [sha256, { byteLength: size }] of files) {
      await tx
        .insertInto('blobs')
        .values({ sha256, size, state: 'stored', stored_at: '2026-01-01T00:00:00.000Z', generation: '' })
        .execute()
      const held = { repository: 'releases', holder: 'artifact', state: 'live', retired_at: null, beside: 0 } as const
      await tx
        .insertInto('claims')
        .values({ id: randomUUID(), sha256, size, ...held })
        .execute()
    }
  })
  return files
}

const storeOf = (files: ReadonlyMap<string, Buffer>, counted: Counted): Pick<BlobStore, 'size' | 'open'> => ({
  size: async (name) => files.get(digestOfName(name))?.byteLength ?? null,
  async open(name, { start, end }) {
    const bytes = files.get(digestOfName(name))?.subarray(start, end)
    if (bytes === undefined) throw new BlobMissing(`nothing is called ${name}`)
    counted.readBytes += bytes.byteLength
    return (async function* () {
      yield bytes
    })()
  },
})

onSqlite((engine) => {
  describe('a capture that died', () => {
    it('costs the next one no more than what is left', async () => {
      const engines = await openOwnEngines(engine)
      const files = await stored(engines.database)
      const url = await freshVault(engine)
      /** Takes a point, and dies when it gets to a place for the nth time. */
      const take = async (vault: string, dieAt: string | null, nth: number): Promise<Counted> => {
        const counted = none()
        let times = 0
        const reach = (point: string): void => {
          if (point === dieAt && ++times === nth) throw new Error('as the test says')
        }
        const room = counting(await roomOf(vault), counted)
        const deps = { ...engines, room, store: storeOf(files, counted), reach, program: 'test' }
        const spool = spoolBeside({ dataDir: vault.slice('file:'.length) })
        const wish = { id: randomUUID(), before: null, isDamaged: () => false, goOn: () => {}, told: () => {} }
        const taking = capture({ ...deps, spool, pace: async () => {} }, wish)
        if (dieAt === null) await taking
        else await assert.rejects(taking, /as the test says/)
        return counted
      }
      const whole = await take(url, null, 0)
      assert.ok(whole.fileBytes > 45 * MiB && whole.rowBytes > 100 * KiB, JSON.stringify(whole))
      await removeVault(url)

      const ofBlobs = movingTables().findIndex(({ name }) => name === 'blobs') + 1
      for (const [dieAt, nth, part] of [
        ['backup.table', ofBlobs, 'rowBytes'],
        ['backup.blob', 3, 'fileBytes'],
        ['backup.pack', 2, 'fileBytes'],
      ] as const) {
        const vault = await freshVault(engine)
        const died = await take(vault, dieAt, nth)
        const rest = await take(vault, null, 0)
        const told = JSON.stringify({ dieAt, whole, died, rest })
        assert.ok(died[part] > 0 && died[part] < whole[part], told)
        // What was written is not written once more, and of files not read: but for samples of the large ones.
        assert.ok(rest.rowBytes <= whole.rowBytes - died.rowBytes, told)
        assert.ok(rest.fileBytes <= whole.fileBytes - died.fileBytes, told)
        assert.ok(rest.readBytes <= whole.readBytes - died.fileBytes + MiB, told)
        assert.ok(rest.otherBytes <= whole.otherBytes + MiB, told)
        await removeVault(vault)
      }
    })
  })
})
