import { createUpstreamMeter, type UpstreamMeter } from '../../protocols/npm/upstream/meter.ts'
import { createUpstream, type Upstream } from '../../protocols/npm/upstream/upstream.ts'
import type { Engines } from '../engines.ts'

import { openCredentials } from './credentials.ts'
import { openNpmUpstreamDoor } from './door.ts'

/** What looks through to other registries in a gateway, and what it counts. */
export interface NpmUpstream extends AsyncDisposable {
  readonly upstream: Upstream
  readonly meter: UpstreamMeter
}

/** One that only reads fetches nothing: its store can be read and no more. */
export const openNpmUpstream = async (engines: Engines, role: 'api' | 'reader'): Promise<NpmUpstream> => {
  const { settings, log } = engines
  const credentialsFor = await openCredentials(settings.npmUpstreamCredentialsFile, log)
  const door = await openNpmUpstreamDoor(settings)
  const meter = createUpstreamMeter()
  const answerMs = settings.npmUpstreamAnswerMs
  const upstream = createUpstream({
    ...engines,
    ...settings,
    ...{ door, credentialsFor, answerMs, meter, fetches: role === 'api' },
  })
  return {
    upstream,
    meter,
    async [Symbol.asyncDispose]() {
      await upstream[Symbol.asyncDispose]()
      await door[Symbol.asyncDispose]()
    },
  }
}
