import { adoptStore } from '../../content/claims/ownership.ts'
import { withParts } from './offline.ts'

/** Makes the blob store that of this database, whatever it belonged to. */
export const adoptStoreCommand = (): Promise<void> =>
  withParts(async (parts) => {
    await adoptStore(parts)
    console.log('The blob store belongs to this database now. What no row knows is in quarantine: svc quarantine')
  })
