import type { TestEngine } from './engines.ts'
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts'
import { objectStoreUrl } from './shared-object-store.ts'

export interface BlobStoreBehindProxy extends AsyncDisposable {
  readonly proxy: FaultyProxy
  /** What SVC_BLOB_STORE says for whoever goes through the proxy. */
  readonly blobStoreUrl: string
}

/** An empty place for bytes in the object store, reached through a proxy that the test steers. */
export const blobStoreBehindProxy = async (engine: TestEngine): Promise<BlobStoreBehindProxy> => {
  const direct = await engine.freshBlobStoreUrl()
  if (direct === null) throw new Error(`${engine.name} keeps its bytes in a folder`)
  const proxy = await startFaultyProxy(await objectStoreUrl())
  const url = new URL(direct)
  url.searchParams.set('endpoint', `http://${new URL(proxy.url).host}`)
  return { proxy, blobStoreUrl: url.href, [Symbol.asyncDispose]: () => proxy.close() }
}
