import type { OutboundHttp } from '../../ports/outbound-http.ts'
import { openDoor } from '../door.ts'
import { type Settings, SettingsInvalid } from '../settings/rules.ts'

/** The door outwards, for upstreams of npm repositories. */
export const openNpmUpstreamDoor = (settings: Settings): Promise<OutboundHttp> =>
  openDoor(
    settings,
    { allowed: settings.npmUpstreamAllowPrivate, authoritiesFile: settings.npmUpstreamCaFile },
    (why) => new SettingsInvalid([`SVC_NPM_UPSTREAM_CA_FILE: ${why}`]),
  )
