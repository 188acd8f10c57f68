import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { describe, it } from 'node:test'
import { readAheadBytes } from '../../kernel/limits/transfers.ts'
import { assemblySuite } from '../../ports/assembly.suite.ts'
import { blobStoreSuite } from '../../ports/blob-store.suite.ts'
import { BlobMissing, BlobStoreFull, BlobStoreUnavailable, unplanned } from '../../ports/blob-store.ts'
import { growingSuite } from '../../ports/growing.suite.ts'
import { get, nameOf, put, rest } from '../../ports/storing.suite.ts'
import { openBlobDirectory } from './blob-directory.ts'
import { mayMount, mount, nameInShard, openFilesUnder, scratch, smallDisk, until } from './scratch.suite.ts'

blobStoreSuite('a directory', async (t) => openBlobDirectory(scratch(t)))
assemblySuite('a directory', async (t) => openBlobDirectory(scratch(t)))
growingSuite('a directory', async (t) => openBlobDirectory(scratch(t)))

const skip = mayMount ? false : 'mounting needs CAP_SYS_ADMIN'

describe('openBlobDirectory', () => {
  it('makes every shard, and finds what an earlier process stored', async (t) => {
    const place = scratch(t)
    const bytes = randomBytes(1000)
    const name = await put(await openBlobDirectory(place), bytes)
    assert.equal(fs.readdirSync(place.root).length, 256)
    assert.deepEqual(fs.readFileSync(`${place.root}/${name.slice(0, 2)}/${name}`), bytes)
    const again = await openBlobDirectory(place)
    assert.deepEqual(await get(again, name, { start: 0, end: 1000 }), bytes)
    assert.deepEqual(fs.readdirSync(place.staging), [])
  })

  it('makes the directories above, too', async (t) => {
    const { root, staging } = scratch(t)
    await openBlobDirectory({ root: `${root}/deep/er`, staging: `${staging}/deep/er` })
    assert.equal(fs.readdirSync(`${root}/deep/er`).length, 256)
  })

  it('refuses two devices', { skip }, async (t) => {
    const place = scratch(t)
    mount(place, place.staging, smallDisk('1m'))
    await assert.rejects(openBlobDirectory(place), /must lie on one device/)
    assert.deepEqual(fs.readdirSync(place.root), [], 'nothing was made before it refused')
  })

  it('refuses two mounts of one device', { skip }, async (t) => {
    const place = scratch(t)
    fs.mkdirSync(`${place.base}/elsewhere`)
    mount(place, place.staging, ['--bind', `${place.base}/elsewhere`])
    await assert.rejects(openBlobDirectory(place), /must lie on one device/)
  })

  it('leaves out what is no blob and no stage', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const name = '5'.repeat(64)
    fs.writeFileSync(`${place.root}/55/${name}.tmp`, '')
    fs.writeFileSync(`${place.root}/56/${name}`, 'in the wrong shard')
    fs.mkdirSync(`${place.root}/55/${name}`)
    fs.mkdirSync(`${place.staging}/lost-found`)
    fs.writeFileSync(`${place.staging}/.hidden`, '')
    assert.deepEqual(await Array.fromAsync(store.list()), [])
    assert.deepEqual(await Array.fromAsync(store.listStaged()), [])
  })
})

describe('a blob directory', () => {
  it('lets a reader finish a blob that is deleted', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const bytes = randomBytes(5 * readAheadBytes)
    const name = await put(store, bytes)
    const reader = await store.open(name, { start: 0, end: bytes.byteLength })
    assert.equal(await store.delete(name), true)
    assert.ok((await rest(reader)).equals(bytes))
    await assert.rejects(store.open(name, { start: 0, end: 1 }), BlobMissing)
  })

  it('says where the file of a blob is, and not before it is there or once it is gone', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const bytes = randomBytes(100_000)
    const name = nameOf(bytes)
    await assert.rejects(store.file(name, bytes.length), BlobMissing)
    await put(store, bytes)
    const below = await store.file(name, bytes.length)
    assert.equal(below, `${name.slice(0, 2)}/${name}`)
    assert.deepEqual(fs.readFileSync(`${place.root}/${below}`), bytes)
    for (const length of [0, bytes.length - 1, bytes.length + 1])
      await assert.rejects(store.file(name, length), /has 100000 bytes instead of/)
    await store.delete(name)
    await assert.rejects(store.file(name, bytes.length), BlobMissing)
    fs.rmSync(place.root, { recursive: true })
    await assert.rejects(store.file(name, bytes.length), BlobStoreUnavailable)
  })

  it('closes every file, however a blob was read or staged', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const size = 4 * readAheadBytes
    const name = await put(store, randomBytes(size))
    for (const end of [0, 1000, 100_000, size]) {
      await get(store, name, { start: 0, end })
      await get(store, name, { start: 0, end }, end === size ? size : undefined)
      await (await store.open(name, { start: 0, end })).return?.()
      const asked = await store.open(name, { start: 0, end })
      const first = asked.next()
      await Promise.all([asked.return?.(), first])
      await assert.rejects(get(store, name, { start: size - 1, end: size + end + 1 }))
    }
    for await (const _ of await store.open(name, { start: 0, end: size })) break
    for await (const _ of store.list()) break
    await (await store.stage(randomUUID(), unplanned)).discard()
    await store.probe()
    await until(
      () => openFilesUnder(place).length === 0,
      () => `left open: ${openFilesUnder(place)}`,
    )
  })

  it('refuses an id that is in use, and leaves its bytes alone', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const id = randomUUID()
    const staged = await store.stage(id, unplanned)
    await assert.rejects(store.stage(id, unplanned), /EEXIST/)
    await staged.discard()
  })

  it('does not take a lost disk for an empty one', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const name = await put(store, randomBytes(1000))
    fs.renameSync(place.root, `${place.root}-unmounted`)
    fs.mkdirSync(place.root)
    await assert.rejects(store.open(name, { start: 0, end: 1 }), BlobStoreUnavailable)
    await assert.rejects(store.size(name), BlobStoreUnavailable)
    await assert.rejects(store.delete(name), BlobStoreUnavailable)
    await assert.rejects(Array.fromAsync(store.list()), BlobStoreUnavailable)
    await assert.rejects(store.probe(), BlobStoreUnavailable)
    await assert.rejects(put(store, randomBytes(10)), BlobStoreUnavailable)
    fs.rmSync(place.staging, { recursive: true })
    await assert.rejects(store.stage(randomUUID(), unplanned), BlobStoreUnavailable)
    await assert.rejects(store.probe(), BlobStoreUnavailable)
  })

  it('says that the disk is full, and goes on after', {
    skip: !mayMount && 'mounting needs CAP_SYS_ADMIN',
  }, async (t) => {
    const { base, undo } = scratch(t)
    const place = { base, undo, root: `${base}/disk/blobs`, staging: `${base}/disk/staging` }
    mount(place, `${base}/disk`, smallDisk('4m'))
    const store = await openBlobDirectory(place)
    const small = await put(store, randomBytes(1000))
    const staged = await store.stage(randomUUID(), unplanned)
    const fill = async (): Promise<void> => {
      for (let piece = 0; piece < 200; piece++) await staged.write(randomBytes(64 * 1024))
      await staged.publish(nameInShard('00'))
    }
    await assert.rejects(fill, BlobStoreFull)
    await assert.rejects(staged.publish(nameInShard('00')))
    assert.equal(await store.size(nameInShard('00')), null)
    await store.probe()
    assert.equal((await store.space())?.freeBytes, 0)
    await get(store, small, { start: 0, end: 1000 })
    await get(await openBlobDirectory(place), small, { start: 0, end: 1000 })
    await staged.discard()
    assert.ok(((await store.space())?.freeBytes ?? 0) > 2 * 1024 * 1024)
    await put(store, randomBytes(1024 * 1024))
  })
})
