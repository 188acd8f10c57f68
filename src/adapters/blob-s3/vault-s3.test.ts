import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type FaultyProxy, listingPage, startFaultyProxy } from '../../../test/harness/faulty-proxy.ts'
import { createBucket, type TestBucket } from '../../../test/harness/object-store.ts'
import { objectStoreUrl, stopOwnObjectStore } from '../../../test/harness/shared-object-store.ts'
import { backupVaultSuite } from '../../ports/backup-vault.suite.ts'
import { VaultFailure } from '../../ports/vault.ts'
import { toVaultName } from '../../ports/vault-name.ts'
import { openVaultS3 } from './vault-s3.ts'

after(stopOwnObjectStore)

backupVaultSuite('an object store', async () => {
  const { place, credentials } = await createBucket(await objectStoreUrl())
  Object.assign(process.env, credentials)
  return () => openVaultS3({ ...place, prefix: 'backups/' })
})

describe('a listing that is not that of an object store', () => {
  let proxy: FaultyProxy
  let bucket: TestBucket
  before(async () => {
    proxy = await startFaultyProxy(await objectStoreUrl())
    bucket = await createBucket(proxy.url)
    Object.assign(process.env, bucket.credentials)
  })
  after(() => proxy.close())

  const keyAt = (index: number): string => `backups/data/x${1e9 + index}`
  const keysFrom = (index: number, count: number): string[] =>
    Array.from({ length: count }, (_, at) => keyAt(index + at))
  const listed = async (page: (number: number) => string): Promise<string[]> => {
    let pages = 0
    proxy.fault = () => ({ kind: 'answer', status: 200, body: page(++pages) })
    const vault = openVaultS3({ ...bucket.place, prefix: 'backups/' }, { pauseFirstMs: 10 })
    return await Array.fromAsync(vault.list(toVaultName('data')), ({ name }) => name)
  }

  it('is read to its end where it has one', async () => {
    const pages = [[], ['a', 'b'], [], ['b-1', 'c/d', '\u{ffee}', '\u{1f600}']]
    const found = await listed((at) =>
      listingPage(
        (pages[at - 1] ?? []).map((each) => `backups/data/${each}`),
        at < pages.length ? `to ${at}` : null,
      ),
    )
    assert.deepEqual(found, ['data/a', 'data/b', 'data/b-1', 'data/c/d'])
  })

  for (const [does, page] of [
    ['says the same without an end', (at: number) => listingPage([keyAt(1)], `to ${at}`)],
    ['goes back', (at: number) => listingPage([keyAt(1_000 - at)], `to ${at}`)],
    ['has nothing to tell and no end', (at: number) => listingPage([], `to ${at}`)],
    ['is longer than one can be', () => listingPage(keysFrom(0, 150_000), null)],
    [
      'names what is not of a vault, without an end',
      (at: number) =>
        listingPage(
          keysFrom(at * 1_000, 1_000).map((key) => `${key}/NO NAME`),
          `to ${at}`,
        ),
    ],
  ] as const)
    it(`is a fault of the vault where it ${does}`, async () => {
      await assert.rejects(listed(page), (error) => error instanceof VaultFailure && error.trouble === 'unreachable')
    })
})
