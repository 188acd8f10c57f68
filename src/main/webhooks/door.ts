import { type DoorData, doorData } from '../door.ts'
import { type Settings, SettingsInvalid } from '../settings/rules.ts'

/** What the door to receivers of webhooks goes by. */
export const webhookDoorData = (settings: Settings): Promise<DoorData> =>
  doorData(
    settings,
    { allowed: settings.webhooksAllowPrivate, authoritiesFile: settings.webhooksCaFile },
    (why) => new SettingsInvalid([`SVC_WEBHOOKS_CA_FILE: ${why}`]),
  )
