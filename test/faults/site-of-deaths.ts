import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { TestEngine } from '../harness/engines.ts'
import type { Environment } from '../harness/processes.ts'
import { makeKeeper } from './keeper.ts'
import { Site } from './site.ts'

/** A service for tests that kill it, and a key that deletes there: made before them, and gone after them. */
export const siteOfDeaths = (
  engine: TestEngine,
  { objectStore = false, settings = {} }: { readonly objectStore?: boolean; readonly settings?: Environment },
  made: (site: Site, keeper: string) => void,
): void => {
  let site: Site
  before(async () => {
    const store = objectStore ? { SVC_BLOB_STORE: (await engine.freshBlobStoreUrl()) ?? '' } : {}
    const folder = await mkdtemp(join(tmpdir(), 'svc-kill-'))
    site = new Site(folder, await engine.readyDatabaseUrl(), { ...settings, ...store })
    await site.live()
    made(site, await makeKeeper(site))
  })
  after(async () => {
    await site.stop()
    await rm(site.dataDir, { recursive: true, force: true })
  })
}
