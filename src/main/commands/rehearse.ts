import { resolve } from 'node:path'
import { progressTo } from '../../features/operating/moving/progress.ts'
import { openBackupRoom } from '../backup-vault.ts'
import { CommandFailed } from '../client/command-failed.ts'
import type { Environment } from '../engines.ts'
import { RehearsalFailed, rehearse } from '../rehearsing/rehearsing.ts'
import { stageIn } from '../rehearsing/stage.ts'
import { withEngines } from './offline.ts'
import { withPointToTry } from './point-to-try.ts'

/** Tries a restore in a scratch folder, and says what came of it. */
export const rehearseCommand = (
  point: string,
  { scratch }: { readonly scratch?: string },
  environment?: Environment,
): Promise<void> =>
  withEngines(
    async (engines) => {
      const room = await openBackupRoom(engines.settings)
      await withPointToTry(engines, room, point, async (manifest) => {
        const folder = stageIn(resolve(scratch ?? engines.settings.dataDir))
        const progress = progressTo((line) => console.error(line))
        const told = (words: string): void => progress.tell(() => words)
        console.error(
          `Restoring point ${manifest.id} of ${manifest.snapshotAt} into ${folder}, which is removed afterwards.`,
        )
        try {
          const { rows, blobs, answers } = await rehearse(engines, room, manifest, { folder, told })
          console.log(
            `Point ${manifest.id} was restored: ${rows} rows and ${blobs} files were as it says, and a service on it gave ${answers} answers as they should be.`,
          )
        } catch (error) {
          if (error instanceof RehearsalFailed)
            throw new CommandFailed(
              'failed',
              `Point ${manifest.id} could not be proven (${error.code}): ${error.message}`,
            )
          throw error
        }
      })
    },
    { environment },
  )
