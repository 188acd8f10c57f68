import { scrub as scrubBlobs, tellOfRot } from '../../content/checks/scrub.ts'
import { MiB } from '../../kernel/units.ts'
import { withEngines } from './offline.ts'

/**
 * Reads every stored blob again at a bounded rate and names those whose content has changed, in the storage events of
 * the repositories that hold them as well. Ends with 1 when there are any. Interrupted, it says where to go on.
 */
export const scrub = ({ rate, after = '' }: { readonly rate: number; readonly after?: string }): Promise<void> =>
  withEngines(
    async ({ database, store, clock }) => {
      let [blobs, bytes, rotten] = [0, 0, 0]
      let last = after
      let stopped = false
      const stop = (): void => {
        stopped = true
      }
      process.once('SIGINT', stop).once('SIGTERM', stop)
      for await (const { digest, bytes: size, rot } of scrubBlobs(
        { database, store, bytesPerSecond: rate * MiB },
        after,
      )) {
        blobs += 1
        bytes += size
        last = digest
        if (rot !== null) {
          rotten += 1
          await tellOfRot({ database, clock }, digest, rot)
          console.log(`damage: blob ${digest}: ${rot}`)
        }
        if (stopped) break
      }
      console.log(`${blobs} files with ${bytes} bytes were read; ${rotten} have changed.`)
      if (stopped) console.log(`Interrupted; to go on: svc scrub --after ${last}`)
      if (rotten > 0) process.exitCode = 1
    },
    { duringImport: true },
  )
