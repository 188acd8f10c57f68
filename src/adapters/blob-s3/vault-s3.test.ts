import { after } from 'node:test'
import { createBucket } from '../../../test/harness/object-store.ts'
import { objectStoreUrl, stopOwnObjectStore } from '../../../test/harness/shared-object-store.ts'
import { backupVaultSuite } from '../../ports/backup-vault.suite.ts'
import { openVaultS3 } from './vault-s3.ts'

after(stopOwnObjectStore)

backupVaultSuite('an object store', async () => {
  const { place, credentials } = await createBucket(await objectStoreUrl())
  Object.assign(process.env, credentials)
  return () => openVaultS3({ ...place, prefix: 'backups/' })
})
