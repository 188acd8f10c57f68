import { giveUpQuarantined, inQuarantine, quarantined, watchQuarantine } from '../../content/checks/quarantine.ts'
import { timestamp } from '../../kernel/clock.ts'
import { day } from '../../kernel/units.ts'
import { withEngines } from './offline.ts'

/**
 * Lists what is in quarantine after a look through the store; with `removeAfterDays` gives up what was there that long.
 */
export const quarantineCommand = ({
  removeAfterDays,
}: {
  readonly removeAfterDays?: number | undefined
}): Promise<void> =>
  withEngines(async (engines) => {
    await watchQuarantine(engines)
    if (removeAfterDays === undefined) {
      for await (const { name, size, seen_at } of quarantined(engines))
        console.log(`${name}  ${size} bytes, since ${seen_at}`)
    } else {
      const given = await giveUpQuarantined(engines, timestamp(engines.clock.now() - removeAfterDays * day))
      console.log(`${given} files were given up; the upkeep removes them.`)
    }
    const { blobs, bytes } = await inQuarantine(engines)
    console.log(`${blobs} files with ${bytes} bytes are in quarantine.`)
  })
