import { readFile } from 'node:fs/promises'
import type { Networks } from '../adapters/outbound-fetch/networks.ts'
import { openOutboundHttp } from '../adapters/outbound-fetch/outbound-fetch.ts'
import { proxyThrough } from '../adapters/outbound-fetch/proxies.ts'
import { insideTransaction } from '../database/scope.ts'
import type { OutboundHttp } from '../ports/outbound-http.ts'
import type { Settings } from './settings/rules.ts'
import { programVersion } from './version.ts'

interface Wish {
  /** Networks that may be asked although they are not public. */
  readonly allowed: Networks
  /** A file of certificates (PEM) that are believed beside those of the system. */
  readonly authoritiesFile: string | null
  readonly plainHttp?: boolean
}

/** The door outwards, by the proxies of this process. `refuse` says that the file of certificates is none. */
export const openDoor = async (
  { proxies }: Pick<Settings, 'proxies'>,
  { allowed, authoritiesFile, plainHttp = false }: Wish,
  refuse: (why: string) => Error,
): Promise<OutboundHttp> =>
  openOutboundHttp({
    allowed,
    authorities: authoritiesFile === null ? [] : [await readAuthorities(authoritiesFile, refuse)],
    proxyFor: proxyThrough(proxies),
    userAgent: `svc/${programVersion()}`,
    plainHttp,
    forbidden: insideTransaction,
  })

const readAuthorities = async (path: string, refuse: (why: string) => Error): Promise<string> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw refuse(`${path} cannot be read, or has no certificate (PEM) in it`)
  return text
}
