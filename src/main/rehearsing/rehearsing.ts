import { hash, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, writeOnce } from '../../adapters/files/durable-file.ts'
import { migrations } from '../../database/migrations/index.ts'
import { countRows } from '../../database/moving/rows.queries.ts'
import { isTableName } from '../../database/moving/tables.ts'
import { BackupLocked } from '../../features/operating/backups/coding.ts'
import { BackupDamaged, type Room } from '../../features/operating/backups/data-files.ts'
import type { Manifest } from '../../features/operating/backups/manifest.ts'
import { rowsOfPoint } from '../../features/operating/backups/point-rows.ts'
import { beginRehearsal, endRehearsal, type Rehearsed } from '../../features/operating/backups/rehearsals.ts'
import { revokeAll } from '../../features/operating/backups/revoking.ts'
import { Failure } from '../../kernel/failure.ts'
import { newId } from '../../kernel/ids.ts'
import { type Engines, openEngines } from '../engines.ts'
import { openLog } from '../log.ts'
import { refuseNewerPoint, restoreFrom } from '../restoring.ts'
import { run } from '../run.ts'
import { readSettings, type Settings } from '../settings/rules.ts'
import { faultOf, samplesOf } from './samples.ts'
import { forgetBegun, noteBegun, takeStage } from './stage.ts'

/** A restore was tried and did not bring back what the point says. */
export class RehearsalFailed extends Error {
  override readonly name = 'RehearsalFailed'
  readonly code: 'restore_failed' | 'doctor_found_damage' | 'counts_differ' | 'answers_differ'
  constructor(code: RehearsalFailed['code'], why: string) {
    super(why)
    this.code = code
  }
}

interface Stage {
  readonly folder: string
  readonly told: (words: string) => void
}

/**
 * Restores a point into a folder of its own, starts a reader on it, holds what it answers against the point, and
 * removes the folder. What came of it is a row of the service, which the status of backups tells.
 */
export const rehearse = async (engines: Engines, room: Room, point: Manifest, stage: Stage): Promise<Rehearsed> => {
  const held = await takeStage(engines, stage.folder)
  if (held === null) throw new Failure('busy', `Another rehearsal is under way in ${stage.folder}.`)
  try {
    return await rehearseAlone(engines, room, point, stage)
  } finally {
    held[Symbol.dispose]()
  }
}

const rehearseAlone = async (engines: Engines, room: Room, point: Manifest, stage: Stage): Promise<Rehearsed> => {
  const id = newId(engines.clock.now())
  await noteBegun(stage.folder, id)
  await beginRehearsal(engines, id, point)
  let done: Rehearsed = { rows: 0, blobs: 0, answers: 0, errorCode: 'failed' }
  try {
    done = await onStage(engines, room, point, stage)
    return done
  } catch (error) {
    done = { ...done, errorCode: codeOf(error) }
    throw error
  } finally {
    await rm(stage.folder, { recursive: true, force: true })
    await endRehearsal(engines, id, point.vault, done)
    await forgetBegun(stage.folder)
  }
}

const codeOf = (error: unknown): string => {
  if (error instanceof RehearsalFailed) return error.code
  if (error instanceof BackupLocked) return 'point_locked'
  if (error instanceof BackupDamaged) return `point_${error.code}`
  return error instanceof Failure && error.code === 'insufficient_space' ? 'scratch_full' : 'restore_failed'
}

const onStage = async (engines: Engines, room: Room, point: Manifest, { folder, told }: Stage): Promise<Rehearsed> => {
  refuseNewerPoint(point)
  const settings = readSettings({
    SVC_DATA_DIR: folder,
    SVC_LISTEN: '127.0.0.1:0',
    SVC_FREE_SPACE_RESERVE_BYTES: String(engines.settings.freeSpaceReserveBytes),
    SVC_INLINE_BYTES: String(engines.settings.inlineBytes),
  })
  await makeFolder(join(folder, 'config'))
  const restored = await restoreInto(settings, engines, room, point, told)
  told('Starting a reader on it.')
  const secret = await onlyReader(settings, await repositoriesOf(room, point))
  const { clock, reach } = engines
  const service = await run(settings, await openLog('error'), { gateway: 'reader', worker: false }, { clock, reach })
  let answers = 0
  try {
    for await (const sample of samplesOf(room, point)) {
      const fault = await faultOf(sample, service.address ?? '', secret)
      if (fault !== null) throw new RehearsalFailed('answers_differ', fault)
      answers += 1
    }
  } finally {
    await service.stop()
  }
  return { ...restored, answers, errorCode: null }
}

const restoreInto = async (
  settings: Settings,
  { clock, reach }: Engines,
  room: Room,
  point: Manifest,
  told: (words: string) => void,
): Promise<{ readonly rows: number; readonly blobs: number }> => {
  const stack = new AsyncDisposableStack()
  try {
    const scratch = await openEngines(settings, await openLog('error'), { clock, reach }, stack, {
      schema: point.schema,
    })
    const progress = { tell: (words: () => string) => told(words()) }
    const { rows, blobs, findings } = await restoreFrom(scratch, room, point, { revokeAll: false }, progress)
    const damaged = findings.filter(({ kind }) => kind === 'damage')
    if (damaged.length > 0) throw new RehearsalFailed('doctor_found_damage', damaged.map(({ text }) => text).join('; '))
    // An upgrade may have moved rows to where they are now.
    if (point.schema === migrations.length)
      for (const table of point.tables) {
        const found = isTableName(table.name) ? await countRows(scratch.database.reader, table.name) : -1
        // A restore adds what it passes over.
        const isRight = table.name === 'journal_gaps' ? found >= table.rows : found === table.rows
        if (!isRight)
          throw new RehearsalFailed('counts_differ', `${table.name} has ${found} rows instead of ${table.rows}`)
      }
    // What was revoked since the moment is good again in the point, and the reader stands at a port of this machine.
    await revokeAll(scratch)
    return { rows, blobs }
  } finally {
    await stack.disposeAsync()
  }
}

const repositoriesOf = async (room: Room, point: Manifest): Promise<string[]> => {
  const ids: string[] = []
  for await (const { id, deleted_at } of rowsOfPoint(room, point, 'repositories'))
    if (deleted_at === null) ids.push(String(id))
  return ids
}

/** The one key of the stage: it may read everything, and lives as long as the stage. */
const onlyReader = async (settings: Settings, ids: readonly string[]): Promise<string> => {
  const secret = randomBytes(32).toString('hex')
  const repositories = ids.map((repository) => ({ repository, permissions: ['read'] }))
  const keys = [{ id: 'rehearsal', sha256: hash('sha256', secret), repositories }]
  await writeOnce(settings.keysFile.path, JSON.stringify({ keys }))
  return secret
}
