import { after, type TestContext } from 'node:test'
import { createBucket } from '../../../test/harness/object-store.ts'
import { objectStoreUrl, stopOwnObjectStore } from '../../../test/harness/shared-object-store.ts'
import { assemblySuite } from '../../ports/assembly.suite.ts'
import { blobStoreSuite } from '../../ports/blob-store.suite.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { openBlobS3 } from './blob-s3.ts'

const emptyStore = async (_: TestContext): Promise<BlobStore> => {
  const { place, credentials } = await createBucket(await objectStoreUrl())
  Object.assign(process.env, credentials)
  return openBlobS3(place)
}

after(stopOwnObjectStore)
blobStoreSuite('an object store', emptyStore)
assemblySuite('an object store', emptyStore)
