import { after, type TestContext } from 'node:test'
import { createBucket } from '../../../test/harness/object-store.ts'
import { objectStoreUrl, stopOwnObjectStore } from '../../../test/harness/shared-object-store.ts'
import { assemblySuite } from '../../ports/assembly.suite.ts'
import { blobStoreSuite } from '../../ports/blob-store.suite.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { growingSuite } from '../../ports/growing.suite.ts'
import { openBlobS3 } from './blob-s3.ts'

const emptyStore = async (_: TestContext): Promise<BlobStore> => {
  const { place, credentials } = await createBucket(await objectStoreUrl())
  Object.assign(process.env, credentials)
  return openBlobS3(place)
}

after(stopOwnObjectStore)
// Parts of 8 MiB, gathered and then put together, of which one is sent while the next one comes.
blobStoreSuite('an object store', emptyStore, 96 * 1024 * 1024)
assemblySuite('an object store', emptyStore)
growingSuite('an object store', emptyStore)
