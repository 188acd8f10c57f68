import { readFile } from 'node:fs/promises'
import { openOutboundHttp } from '../../adapters/outbound-fetch/outbound-fetch.ts'
import { proxyThrough } from '../../adapters/outbound-fetch/proxies.ts'
import { insideTransaction } from '../../database/scope.ts'
import type { OutboundHttp } from '../../ports/outbound-http.ts'
import { type Settings, SettingsInvalid } from '../settings/rules.ts'
import { programVersion } from '../version.ts'

/** The door outwards, for receivers of webhooks. */
export const openWebhookDoor = async (settings: Settings): Promise<OutboundHttp> =>
  openOutboundHttp({
    allowed: settings.webhooksAllowPrivate,
    authorities: settings.webhooksCaFile === null ? [] : [await readAuthorities(settings.webhooksCaFile)],
    proxyFor: proxyThrough(settings.proxies),
    userAgent: `svc/${programVersion()}`,
    forbidden: insideTransaction,
  })

const readAuthorities = async (path: string): Promise<string> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new SettingsInvalid([`SVC_WEBHOOKS_CA_FILE: ${path} cannot be read, or has no certificate (PEM) in it`])
  return text
}
