import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import { createBucket } from './object-store.ts'
import { objectStoreUrl } from './shared-object-store.ts'

export interface BlobStoreBehindProxy extends AsyncDisposable {
  readonly proxy: FaultyProxy
  /** What SVC_BLOB_STORE says for whoever goes through the proxy. */
  readonly blobStoreUrl: string
}

/** An empty bucket, reached through a proxy that the test steers. */
export const blobStoreBehindProxy = async (): Promise<BlobStoreBehindProxy> => {
  const store = await objectStoreUrl()
  const { url, credentials } = await createBucket(store)
  Object.assign(process.env, credentials)
  const proxy = await startFaultyProxy(store)
  const address = new URL(url)
  address.searchParams.set('endpoint', `http://${new URL(proxy.url).host}`)
  return { proxy, blobStoreUrl: address.href, [Symbol.asyncDispose]: () => proxy.close() }
}
