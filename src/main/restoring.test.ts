import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { plainCoding } from '../features/operating/backups/coding.ts'
import type { Room } from '../features/operating/backups/data-files.ts'
import { beginVault } from '../features/operating/backups/identity.ts'
import { pointName } from '../features/operating/backups/layout.ts'
import { manifestText } from '../features/operating/backups/manifest.ts'
import { newId } from '../kernel/ids.ts'
import { day } from '../kernel/units.ts'
import { VaultFailure } from '../ports/vault.ts'
import { openVaultFolder } from './backup-vault.ts'
import { findPointFor, pointsOf } from './restoring.ts'

/** An id as captures have them, of a moment that may be before that of others. */
const idAt = (ms: number): string => {
  const at = ms.toString(16).padStart(12, '0')
  return `${at.slice(0, 8)}-${at.slice(8)}-7000-8000-${randomBytes(6).toString('hex')}`
}

describe('the point that is meant', () => {
  const [one, other] = [newId(1), newId(2)]
  const begun = Date.parse('2026-05-01T00:00:00Z')
  let base: string
  let room: Room
  let vault: string
  let folders = 0
  before(async () => {
    base = await mkdtemp(join(tmpdir(), 'svc-points-'))
  })
  after(() => rm(base, { recursive: true }))
  beforeEach(async () => {
    const folder = join(base, String(++folders))
    await mkdir(folder)
    room = { vault: openVaultFolder(folder), coding: plainCoding }
    vault = await beginVault(room.vault, 1)
  })

  const atDay = (days: number): string => new Date(begun + days * day).toISOString()
  const point = async (days: number, source = one): Promise<string> => {
    const id = idAt(begun + days * day - 1_000)
    const at = { snapshotAt: atDay(days), completedAt: atDay(days) }
    const written = {
      format: 'svc-backup',
      formatVersion: 1,
      id,
      vault,
      schema: 1,
      program: '1',
      source,
      ...at,
    } as const
    const content = {
      encrypted: false,
      tables: [],
      blobs: { count: days, bytes: 0 },
      newBytes: 0,
      contents: [],
      files: [],
    }
    await room.vault.create(pointName(id), Buffer.from(manifestText({ ...written, ...content })))
    return id
  }
  const spoiled = async (id: string): Promise<void> =>
    writeFile(join(room.vault.where, pointName(id)), 'not what was written')
  const found = async (wanted: string, of?: string): Promise<string> => (await findPointFor(room, wanted, of)).id

  it('is the newest, the newest that is not younger than a time, or that of an id', async () => {
    const ids = [await point(1), await point(2), await point(3)]
    assert.equal(await found('latest'), ids[2])
    assert.equal(await found(atDay(2.5)), ids[1])
    assert.equal(await found(String(ids[0]).toUpperCase()), ids[0])
    await assert.rejects(found(atDay(0.5)), /holds no point from before/)
    for (const wrong of ['nonsense', '2026-13-45', '../vault', '\u001b[2J', idAt(begun)])
      await assert.rejects(found(wrong), /holds no point .*: say latest, a time, or an id/)
    const nowhere = { vault: openVaultFolder(join(base, 'nowhere')), coding: plainCoding }
    await assert.rejects(findPointFor(nowhere, 'latest'), VaultFailure)
  })

  it('is not another one because the newest cannot be read, unless somebody says so', async () => {
    const ids = [await point(1), await point(2), await point(3)]
    await spoiled(String(ids[2]))
    await assert.rejects(found('latest'), (error: Error) => {
      assert.ok(error.message.includes(String(ids[2])) && error.message.includes(String(ids[1])), error.message)
      return true
    })
    assert.equal(await found(atDay(2.5)), ids[1])
    assert.equal(await found(String(ids[1])), ids[1])
    const { points, unreadable } = await pointsOf(room)
    assert.deepEqual(
      points.map(({ id }) => id),
      [ids[1], ids[0]],
    )
    assert.deepEqual(
      unreadable.map(({ file }) => file),
      [pointName(String(ids[2]))],
    )
  })

  it('is the newest although an older one, or what somebody else put there, cannot be read', async () => {
    const ids = [await point(1), await point(2)]
    await spoiled(String(ids[0]))
    await spoiled('0195aaaa-0000-4000-8000-000000000001')
    assert.equal(await found('latest'), ids[1])
  })

  it('is not guessed where two services took points at the same time, unless it is known whose is meant', async () => {
    const ids = [await point(1), await point(2, other), await point(3), await point(4, other)]
    await assert.rejects(found('latest'), (error: Error) => {
      assert.ok(error.message.includes(String(ids[2])) && error.message.includes(String(ids[3])), error.message)
      return true
    })
    assert.equal(await found('latest', one), ids[2])
    assert.equal(await found('latest', other), ids[3])
    assert.equal(await found(String(ids[1])), ids[1])
  })

  it('is the newest of a service that took the place of another one', async () => {
    await point(1)
    await point(2)
    const after = await point(3, other)
    assert.equal(await found('latest'), after)
    assert.equal(await found('latest', newId(3)), after, 'a service that has taken none yet')
  })
})
