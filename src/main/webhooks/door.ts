import type { OutboundHttp } from '../../ports/outbound-http.ts'
import { openDoor } from '../door.ts'
import { type Settings, SettingsInvalid } from '../settings/rules.ts'

/** The door outwards, for receivers of webhooks. */
export const openWebhookDoor = (settings: Settings): Promise<OutboundHttp> =>
  openDoor(
    settings,
    { allowed: settings.webhooksAllowPrivate, authoritiesFile: settings.webhooksCaFile },
    (why) => new SettingsInvalid([`SVC_WEBHOOKS_CA_FILE: ${why}`]),
  )
