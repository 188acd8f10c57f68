import { scrub as scrubBlobs, tellOfRot } from '../../content/checks/scrub.ts'
import { heal, type Rotten } from '../../features/operating/backups/healing.ts'
import { rottenAtOnce } from '../../kernel/limits/backups.ts'
import { MiB } from '../../kernel/units.ts'
import { openBackupRoom } from '../backup-vault.ts'
import type { Engines, Environment } from '../engines.ts'
import { manifestsOf } from '../restoring.ts'
import { withEngines } from './offline.ts'

interface ScrubOptions {
  readonly rate: number
  readonly after?: string
  readonly heal?: boolean
}

/**
 * Reads every stored blob again at a bounded rate and names those whose content has changed, in the storage events of
 * the repositories that hold them as well. What the vault of backups has is brought back. Ends with 1 when something
 * stays damaged. Interrupted, it says where to go on.
 */
export const scrub = (
  { rate, after = '', heal: heals = true }: ScrubOptions,
  environment?: Environment,
): Promise<void> =>
  withEngines(
    async (engines) => {
      const { database, store, clock, settings } = engines
      let [blobs, bytes, rotten, healed] = [0, 0, 0, 0]
      let last = after
      let stopped = false
      let found: Rotten[] = []
      const stop = (): void => {
        stopped = true
      }
      const bringBack = async (): Promise<void> => {
        const some = found
        found = []
        if (heals && settings.backupVault !== null) healed += await bringBackFromVault(engines, some)
      }
      process.once('SIGINT', stop).once('SIGTERM', stop)
      const deps = { database, store, bytesPerSecond: rate * MiB }
      for await (const { digest, bytes: size, rot } of scrubBlobs(deps, after)) {
        blobs += 1
        bytes += size
        last = digest
        if (rot !== null) {
          rotten += 1
          found.push({ digest, bytes: size, rot })
          await tellOfRot({ database, clock }, digest, rot)
          console.log(`damage: blob ${digest}: ${rot}`)
          if (found.length >= rottenAtOnce) await bringBack()
        }
        if (stopped) break
      }
      await bringBack()
      const outcome = healed === 0 ? '' : `, and ${healed} of them were brought back from the vault`
      console.log(`${blobs} files with ${bytes} bytes were read; ${rotten} have changed${outcome}.`)
      if (stopped) console.log(`Interrupted; to go on: svc scrub --after ${last}`)
      if (rotten > healed) process.exitCode = 1
    },
    { environment, duringImport: true },
  )

/** How many came back. A vault that is away is said, and is no reason to stop reading. */
const bringBackFromVault = async (engines: Engines, rotten: readonly Rotten[]): Promise<number> => {
  if (rotten.length === 0) return 0
  try {
    const room = await openBackupRoom(engines.settings)
    const healed = await heal({ ...engines, room }, manifestsOf(room), rotten)
    for (const digest of healed) console.log(`healed: blob ${digest}`)
    return healed.size
  } catch (error) {
    console.error(`svc: nothing could be brought back (${error instanceof Error ? error.message : String(error)})`)
    return 0
  }
}
