import type { TrustedProxies } from '../../http/pipeline/client-address.ts'
import { ownSegments } from './base-url.ts'
import type { BlobStoreSetting } from './blob-store.ts'

/** Nothing in it means anything to whoever reads it: no escape, no query, no step up. */
const form = /^(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}){1,8}\/?$/

/**
 * A path of the proxy in front behind which the stored files are, with a slash at its end. Throws a RangeError in
 * words.
 */
export const proxyLocation = (text: string): string => {
  if (!form.test(text))
    throw new RangeError(
      `${JSON.stringify(text)} is no location of a proxy; write it like /svc-files/, as the proxy has it`,
    )
  const [, first] = text.split('/')
  if (ownSegments.some((own) => own === first?.toLowerCase()))
    throw new RangeError(`it begins with /${first}, where the service itself answers; choose another`)
  return text.endsWith('/') ? text : `${text}/`
}

/** What else has to be as it is, a sentence each, for a proxy to send files. */
export const sendByProxyFaults = ({
  blobStore,
  trustedProxies,
}: {
  readonly blobStore: BlobStoreSetting
  readonly trustedProxies: TrustedProxies
}): string[] => {
  const faults: string[] = []
  if (blobStore.kind !== 'directory')
    faults.push('SVC_SEND_BY_PROXY: a proxy can send the files of a folder only (SVC_BLOB_STORE=file:…)')
  if (trustedProxies.length === 0)
    faults.push('SVC_SEND_BY_PROXY: nothing is handed to a proxy that is not trusted; name it in SVC_TRUSTED_PROXIES')
  return faults
}
