import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createNamed, makeFolder } from '../../adapters/files/durable-file.ts'
import { errorCode } from '../../adapters/files/errors.ts'
import { lockFile } from '../../database/sqlite/file-lock.ts'
import { endDeadRehearsal } from '../../features/operating/backups/rehearsals.ts'
import type { Engines } from '../engines.ts'

/** Where a rehearsal restores to. Beside it lie a lock, and the id of the rehearsal that has not ended. */
export const stageIn = (folder: string): string => join(folder, 'rehearsal')

const noteBeside = (stage: string): string => `${stage}.begun`

/**
 * Has a stage alone until it is given back; null while another process has it. What a rehearsal left there that died is
 * removed, which may be a copy of everything, and that it died is told as what came of it.
 */
export const takeStage = async (
  deps: Pick<Engines, 'database' | 'clock'>,
  stage: string,
): Promise<Disposable | null> => {
  await makeFolder(dirname(stage))
  const held = lockFile(`${stage}.lock`, 'exclusive')
  if (held === null) return null
  try {
    const dead = await begunOn(stage)
    await rm(stage, { recursive: true, force: true })
    if (dead !== null) await endDeadRehearsal(deps, dead)
    await forgetBegun(stage)
    return held
  } catch (error) {
    held[Symbol.dispose]()
    throw error
  }
}

/** Notes which rehearsal is at work on a stage, before there is anything on it. */
export const noteBegun = async (stage: string, id: string): Promise<void> => {
  await createNamed(noteBeside(stage), id)
}

/** The rehearsal that has begun on a stage, and neither ended nor was cleaned up; null where there is none. */
export const begunOn = async (stage: string): Promise<string | null> => {
  try {
    return (await readFile(noteBeside(stage), 'utf8')).trim()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Forgets who was at work on a stage: it has ended, and nothing is there any more. */
export const forgetBegun = (stage: string): Promise<void> => rm(noteBeside(stage), { force: true })
