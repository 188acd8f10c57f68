import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Networks, parseNetworks, textOf } from '../adapters/outbound-fetch/networks.ts'
import { openOutboundHttp } from '../adapters/outbound-fetch/outbound-fetch.ts'
import { type Proxies, proxyThrough } from '../adapters/outbound-fetch/proxies.ts'
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

/** What a door outwards goes by, as a thread can be told it. */
export interface DoorData {
  readonly allowed: readonly string[]
  readonly authorities: readonly string[]
  readonly proxies: Proxies
  readonly userAgent: string
  readonly plainHttp: boolean
}

/** By the proxies of this process. `refuse` says that the file of certificates is none. */
export const doorData = async (
  { proxies }: Pick<Settings, 'proxies'>,
  { allowed, authoritiesFile, plainHttp = false }: Wish,
  refuse: (why: string) => Error,
): Promise<DoorData> => ({
  allowed: allowed.map(textOf),
  authorities: authoritiesFile === null ? [] : [await readAuthorities(authoritiesFile, refuse)],
  proxies,
  userAgent: `svc/${programVersion()}`,
  plainHttp,
})

export const openDoorBy = ({ allowed, proxies, ...data }: DoorData): OutboundHttp =>
  openOutboundHttp({
    ...data,
    allowed: parseNetworks(allowed),
    proxyFor: proxyThrough(proxies),
    forbidden: insideTransaction,
  })

/** The door outwards. */
export const openDoor = async (...of: Parameters<typeof doorData>): Promise<OutboundHttp> =>
  openDoorBy(await doorData(...of))

const certificates = /-----BEGIN CERTIFICATE-----.*?(?:-----END CERTIFICATE-----|$)/gs

/** One that cannot be read would be passed over in silence, and so would all behind it. */
const readAuthorities = async (path: string, refuse: (why: string) => Error): Promise<string> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  const all = text.match(certificates)
  if (all === null) throw refuse(`${path} cannot be read, or has no certificate (PEM) in it`)
  const wrong = all.findIndex((each) => !isCertificate(each))
  if (wrong !== -1) throw refuse(`certificate ${wrong + 1} of ${all.length} in ${path} cannot be read`)
  return text
}

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).subject !== null
  } catch {
    return false
  }
}
