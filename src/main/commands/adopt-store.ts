import { adoptStore } from '../../content/claims/ownership.ts'
import { withEngines } from './offline.ts'

/** Makes the blob store that of this database, whatever it belonged to. */
export const adoptStoreCommand = (): Promise<void> =>
  withEngines(async (engines) => {
    await adoptStore(engines)
    console.log('The blob store belongs to this database now. What no row knows is in quarantine: svc quarantine')
  })
