import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { vaultIdentity } from '../../features/operating/backups/identity.ts'
import { currentVault, pointPage } from '../../features/operating/backups/points.ts'
import {
  type BackupJob,
  readBackupJob,
  requestCapture,
  requestVerify,
} from '../../features/operating/backups/requests.ts'
import { jobView } from '../../features/operating/backups/views.ts'
import { pageMax } from '../../kernel/limits/catalog.ts'
import { progressEveryMs } from '../../kernel/limits/engines.ts'
import { openBackupRoom } from '../backup-vault.ts'
import { CommandFailed } from '../client/command-failed.ts'
import type { Engines, Environment } from '../engines.ts'
import { type LyingPoints, pointsOf } from '../restoring.ts'
import { agentOf } from '../roles/agent.ts'
import { readSettings } from '../settings/rules.ts'
import { withEngines } from './offline.ts'

/** Lists the points of the vault, newest first. Asks the vault alone: there may be no database any more. */
export const listPointsCommand = async (): Promise<void> => {
  const room = await openBackupRoom(readSettings(process.env))
  // A disk that is not mounted is none without points.
  await room.vault.space()
  const found = await pointsOf(room)
  for (const line of linesOf(room.vault.where, found, await vaultIdentity(room.vault))) console.log(line)
}

/** What lies in a vault of this name, as a person is told of it. */
export const linesOf = (where: string, { points, unreadable }: LyingPoints, vault: string | null): string[] => {
  const several = new Set(points.map(({ source }) => source)).size > 1
  const strange = points.filter((point) => point.vault !== vault)
  return [
    ...(points.length === 0 ? [`${where} holds no points.`] : []),
    ...points.map((point) =>
      [
        ...[
          point.id,
          point.snapshotAt,
          `${point.rows} rows`,
          `${point.blobs.count} files`,
          `${point.blobs.bytes} bytes`,
        ],
        ...(several ? [`of ${point.source}`] : []),
        ...(strange.includes(point) ? ['of another vault'] : []),
      ].join('  '),
    ),
    ...(points.some(({ blobs }) => blobs.count === 0) ? ['Files that are small count as rows of the database.'] : []),
    ...(several ? ['They are of more than one database (of …): name a point by its id.'] : []),
    ...(strange.length === 0
      ? []
      : [
          `${strange.length} were copied here from another vault than this one, ${vault}. Bring them back by their ids; a service on this vault neither shows nor verifies them, and none of them goes by its plan. Give them a place of their own: docs/operating/backup.md.`,
        ]),
    ...unreadable.map(({ message }) => `cannot be read: ${message}`),
  ]
}

/** Asks for a point, and waits until it is taken: by the agent that runs, or here where none does. */
export const runBackupCommand = (environment?: Environment): Promise<void> =>
  withEngines(
    async (engines) => {
      const point = await done(engines, () => requestCapture(engines, { by: 'command', key: randomUUID() }))
      console.log(`Point ${point} was taken.`)
    },
    { environment },
  )

/** Asks for every byte of a point to be read, and waits for what comes of it. */
export const verifyBackupCommand = (point: string, environment?: Environment): Promise<void> =>
  withEngines(
    async (engines) => {
      await done(engines, async () => {
        const vault = await currentVault(engines.database.reader)
        return await requestVerify(engines, vault, point, { by: 'command', key: randomUUID() })
      })
      const { items } = await pointPage(engines.database.reader, null, pageMax)
      const found = items.find(({ id }) => id === point)
      if (found !== undefined && found.verifyError !== null)
        throw new CommandFailed('failed', `Point ${point} is ${found.verifyError}: take a new one (svc backup run).`)
      console.log(`Every byte of point ${point} is as it was written.`)
    },
    { environment },
  )

/**
 * Asks for a job, unless there is no vault, and resolves with its point once it has completed. Looks for work itself,
 * for as long as no other agent does.
 */
const done = async (engines: Engines, ask: () => Promise<BackupJob>): Promise<string> => {
  const agent = await agentOf(engines)
  try {
    const { id } = await ask()
    for (;;) {
      await agent.look()
      const job = await readBackupJob(engines.database.reader, id)
      if (job === undefined) throw new CommandFailed('failed', 'The job is gone.')
      const { state, errorCode, pointId, progress } = jobView(job)
      if (state === 'completed') return pointId ?? ''
      if (state === 'failed' || state === 'interrupted')
        throw new CommandFailed('failed', `The job ${state}: ${errorCode ?? state}.`)
      console.error(`${state}: ${progress.blobsCopied} of ${progress.blobsTotal} files, ${progress.bytesCopied} bytes`)
      await pause(progressEveryMs)
    }
  } finally {
    await agent.stop()
  }
}
