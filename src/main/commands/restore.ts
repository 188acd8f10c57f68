import { installation } from '../../database/moving/installation.queries.ts'
import { restoreRepository } from '../../features/operating/backups/restore-repository.ts'
import { progressTo } from '../../features/operating/moving/progress.ts'
import { unasked } from '../../journal/security-audit/security-audit.ts'
import { isRepositoryId } from '../../kernel/names.ts'
import { openBackupRoom } from '../backup-vault.ts'
import { CommandFailed } from '../client/command-failed.ts'
import type { Environment } from '../engines.ts'
import { type RestoreWish, refuseNewerPoint, restoreFrom } from '../restoring.ts'
import { readSettings } from '../settings/rules.ts'
import { withEngines } from './offline.ts'
import { withPoint } from './with-point.ts'

/** Puts a point into an empty database and store. Ends with 1 when the doctor finds damage afterwards. */
export const restoreCommand = async (
  point: string,
  { revokeAll = false }: Partial<RestoreWish>,
  environment?: Environment,
): Promise<void> => {
  const room = await openBackupRoom(readSettings(process.env))
  await withPoint(room, point, null, async (manifest) => {
    refuseNewerPoint(manifest)
    console.error(`Restoring point ${manifest.id} of ${manifest.snapshotAt} from ${room.vault.where}.`)
    const progress = progressTo((line) => console.error(line))
    await withEngines(
      async (engines) => {
        const { rows, blobs, bytes, took, findings } = await restoreFrom(
          engines,
          room,
          manifest,
          { revokeAll },
          progress,
        )
        for (const { kind, text } of findings) console.log(`${kind}: ${text}`)
        const damaged = findings.filter(({ kind }) => kind === 'damage').length
        if (damaged > 0) {
          console.log(
            `Everything was restored, and ${damaged} things are damaged. Put them right (svc doctor --repair), then run svc restore ${point} again to finish.`,
          )
          process.exitCode = 1
          return
        }
        console.log(
          `Restored ${rows} rows and ${blobs} files with ${bytes} bytes, as they were at ${manifest.snapshotAt}.`,
        )
        console.log(
          `That took, in seconds: ${took.map(({ phase, seconds }) => `${phase} ${seconds.toFixed(2)}`).join(', ')}.`,
        )
        console.log(
          revokeAll
            ? 'All sessions, tokens, service keys and links were ended: people sign in with their passwords.'
            : 'What was revoked since then is good again: sessions, tokens, keys and links. Restore with --revoke-all to end all of them.',
        )
        console.log('svc can start.')
      },
      { environment, duringImport: true, begins: true, schema: manifest.schema },
    )
  })
}

/** Brings one repository back beside a living service, under an id that nobody has. */
export const restoreRepositoryCommand = async (
  point: string,
  source: string | undefined,
  target: string | undefined,
  environment?: Environment,
): Promise<void> => {
  if (source === undefined || target === undefined || !isRepositoryId(target))
    throw new CommandFailed('failed', 'Say both --only <repository> and --into <a new id of a repository>.')
  const settings = readSettings(process.env)
  const room = await openBackupRoom(settings)
  const progress = progressTo((line) => console.error(line))
  await withEngines(
    async (engines) => {
      const { identity } = await installation(engines.database.reader)
      await withPoint(room, point, identity, async (manifest) => {
        refuseNewerPoint(manifest)
        const deps = {
          ...{ ...engines, ...settings, room },
          actor: unasked({ actor: 'operator', clientAddress: 'command line' }),
          told: (words: string) => progress.tell(() => words),
        }
        const { files, bytes } = await restoreRepository(deps, manifest, { source, target })
        console.log(
          `${files} files with ${bytes} bytes of ${source} are in ${target}, as they were at ${manifest.snapshotAt}. Nobody may see it yet: svc grant <who> ${target} read.`,
        )
      })
    },
    { environment },
  )
}
