import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { MiB } from '../../kernel/units.ts'
import { AssemblyLost, BlobStoreUnavailable } from '../../ports/blob-store.ts'
import { openBlobDirectory } from './blob-directory.ts'
import { layoutOf } from './layout.ts'
import { openAlone } from './lone-writer.ts'
import { newestFile } from './numbered-files.ts'
import { nameInShard, scratch } from './scratch.suite.ts'

describe('writing alone to the file of an assembly', () => {
  const begin = (t: TestContext, bytes: Buffer) => {
    const place = scratch(t)
    const layout = layoutOf(place.root, place.staging)
    fs.mkdirSync(place.staging, { recursive: true })
    const id = randomUUID()
    const path = layout.staged(id)
    fs.writeFileSync(path, bytes)
    /** Of the file that is read. */
    const newest = async (): Promise<string> => (await newestFile(layout, id)).path
    const inode = async (): Promise<number> => (await newestFile(layout, id)).inode
    const names = (): string[] => fs.readdirSync(place.staging)
    return { place, layout, id, path, newest, inode, names }
  }

  it('leaves the file as it is while nobody else may write', async (t) => {
    const { layout, id, path, inode, names } = begin(t, randomBytes(1_000))
    const before = await inode()
    for (let part = 0; part < 3; part++) {
      const alone = await openAlone(layout, id)
      fs.writeSync(alone.descriptor, 'own', part)
      fs.closeSync(alone.descriptor)
      await alone.settled()
    }
    assert.equal(await inode(), before)
    assert.equal(fs.readFileSync(path).toString('latin1', 0, 3), 'ooo')
    assert.deepEqual(names(), [id])
  })

  it('takes another file, of the same bytes and holes, while somebody may still write', async (t) => {
    const bytes = Buffer.concat([randomBytes(2 * MiB + 5), Buffer.alloc(20 * MiB), randomBytes(7)])
    const { layout, id, newest, inode, names } = begin(t, bytes)
    const hanging = await openAlone(layout, id)
    const before = await inode()
    const next = await openAlone(layout, id)
    assert.notEqual(await inode(), before)
    assert.ok(fs.readFileSync(await newest()).equals(bytes))
    assert.ok(fs.statSync(await newest()).blocks * 512 < 10 * MiB, 'the hole takes room')
    fs.writeSync(hanging.descriptor, 'late', 0)
    fs.writeSync(next.descriptor, 'right', 0)
    assert.equal(fs.readFileSync(await newest()).toString('latin1', 0, 5), 'right')
    await next.settled()
    const again = await openAlone(layout, id)
    assert.equal(fs.fstatSync(again.descriptor).ino, await inode(), 'one copy is enough')
    await again.settled()
    await hanging.settled()
    assert.deepEqual(names(), [`${id}.2`])
    for (const { descriptor } of [hanging, next, again]) fs.closeSync(descriptor)
  })

  it('leaves nothing where there is no room for a copy', async (t) => {
    const { layout, id, inode, names } = begin(t, randomBytes(MiB))
    const hanging = await openAlone(layout, id)
    const before = await inode()
    const full = t.mock.method(fs, 'write', (...given: unknown[]) => {
      const done = given.at(-1)
      if (typeof done === 'function') process.nextTick(done, Object.assign(new Error('full'), { code: 'ENOSPC' }), 0)
    })
    const shared = t.mock.method(fs.promises, 'copyFile', async () => {
      throw Object.assign(new Error('cannot'), { code: 'ENOTSUP' })
    })
    await assert.rejects(openAlone(layout, id), /full/)
    full.mock.restore()
    shared.mock.restore()
    assert.equal(await inode(), before)
    assert.equal(names().length, 2)
    await hanging.settled()
    fs.closeSync(hanging.descriptor)
  })

  it('takes the name of a process that is surely gone, and of no other', async (t) => {
    const { layout, id, path, inode, names } = begin(t, randomBytes(1_000))
    const own = await openAlone(layout, id)
    const [name = ''] = names().filter((each) => each !== id)
    await own.settled()
    fs.closeSync(own.descriptor)
    const [, boot, space, , since] = name.split('.')
    const before = await inode()
    // A number that no process has, one of somebody who began at another time, and one in a container beside us.
    const gone = [`${boot}.${space}.4194999.1.00000000`, `${boot}.${space}.${process.ppid}.1.00000000`]
    for (const writer of gone) fs.linkSync(path, layout.writer(id, writer))
    const alone = await openAlone(layout, id)
    assert.equal(await inode(), before)
    await alone.settled()
    fs.closeSync(alone.descriptor)
    assert.deepEqual(names(), [id])
    fs.linkSync(path, layout.writer(id, `${boot}.1.4194999.${since}.00000000`))
    const careful = await openAlone(layout, id)
    assert.notEqual(await inode(), before)
    await careful.settled()
    fs.closeSync(careful.descriptor)
  })

  /** Whoever asks for a second name on a file from now on waits; all others go on. */
  const holdSecondLink = (t: TestContext) => {
    const { link } = fs
    let links = 0
    const held = Promise.withResolvers<() => void>()
    const mocked = t.mock.method(fs, 'link', (...call: Parameters<typeof link>) => {
      if (++links !== 2) return link(...call)
      mocked.mock.restore()
      held.resolve(() => link(...call))
    })
    return held.promise
  }

  it('gives a number once, however late somebody else comes with a copy', async (t) => {
    const { layout, id, newest, inode, names } = begin(t, randomBytes(1_000))
    const hanging = await openAlone(layout, id)
    const held = holdSecondLink(t)
    const late = openAlone(layout, id)
    const goOn = await held
    const alone = await openAlone(layout, id)
    assert.equal(await newest(), layout.numbered(id, 2))
    fs.writeSync(alone.descriptor, 'answered', 0)
    await alone.assertAlone()
    await alone.settled()
    const before = await inode()
    goOn()
    const after = await late
    assert.equal(await inode(), before)
    assert.equal(fs.readFileSync(await newest()).toString('latin1', 0, 8), 'answered')
    await Promise.all([after.settled(), hanging.settled()])
    assert.deepEqual(names(), [`${id}.2`])
    for (const { descriptor } of [hanging, alone, after]) fs.closeSync(descriptor)
  })

  it('lets no part count that was written beside somebody who copied', async (t) => {
    const { layout, id, inode } = begin(t, randomBytes(1_000))
    const overtaken = await openAlone(layout, id)
    const copied = await openAlone(layout, id)
    await copied.settled()
    await assert.rejects(overtaken.assertAlone(), BlobStoreUnavailable)
    await overtaken.settled()
    assert.equal(fs.fstatSync(copied.descriptor).ino, await inode())
    for (const { descriptor } of [overtaken, copied]) fs.closeSync(descriptor)
  })

  it('never takes two others for itself, on a file that has lost its number', async (t) => {
    const { layout, id, path } = begin(t, randomBytes(1_000))
    const overtaken = await openAlone(layout, id)
    fs.linkSync(path, layout.numbered(id, 2))
    fs.unlinkSync(path)
    await overtaken.assertAlone().then(
      () => assert.fail('the number is another'),
      (error: unknown) => assert.ok(error instanceof BlobStoreUnavailable),
    )
    await overtaken.settled()
    fs.closeSync(overtaken.descriptor)
  })

  it('asks whether it still may before another file takes its place', async (t) => {
    const { layout, id, inode } = begin(t, randomBytes(1_000))
    const own = await openAlone(layout, id)
    const before = await inode()
    const tooLate = (): never => {
      throw new Error('the lease is over')
    }
    await assert.rejects(openAlone(layout, id, tooLate), /the lease is over/)
    assert.equal(await inode(), before)
    await own.assertAlone()
    await own.settled()
    fs.closeSync(own.descriptor)
  })

  it('reads, publishes and lists the highest number, and nothing that comes after publishing', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const layout = layoutOf(place.root, place.staging)
    const plan = { name: nameInShard('ab'), bytes: 1_000, partBytes: 1_000 }
    const id = await store.beginAssembly(randomUUID(), plan)
    const stale = layout.writer(id, 'copy.0')
    fs.copyFileSync(layout.staged(id), stale)
    const assembly = store.assembly(id, plan)
    const bytes = randomBytes(1_000)
    for (const number of [2, 3, 10]) fs.writeFileSync(layout.numbered(id, number), number === 10 ? bytes : 'old')
    const read = async (from = assembly): Promise<Buffer> =>
      Buffer.concat(
        await Array.fromAsync(await from.readPart({ index: 0, receipt: '' }), (piece) => Buffer.from(piece)),
      )
    assert.ok((await read()).equals(bytes))
    for (const number of [1, 2]) {
      fs.unlinkSync(layout.numbered(id, number))
      assert.ok((await read()).equals(bytes), 'a number below is gone')
    }
    const publish = (): Promise<void> => assembly.publish((async function* () {})())
    await publish()
    assert.deepEqual(fs.readdirSync(place.staging), [`${id}.copy.0`])
    // A link that hung until now.
    fs.renameSync(stale, layout.numbered(id, 2))
    await assert.rejects(read(store.assembly(id, { ...plan, verified: true })), AssemblyLost)
    // Of one that was never verified the name is somebody else's, and its bytes are what is read.
    assert.equal((await read()).byteLength, plan.bytes)
    fs.copyFileSync(layout.numbered(id, 2), layout.numbered(id, 11))
    assert.deepEqual(
      new Set((await Array.fromAsync(store.listStaged())).map((remains) => remains.place)),
      new Set([id]),
    )
    await assert.rejects(publish(), AssemblyLost)
    assert.ok(fs.readFileSync(layout.blob(plan.name)).equals(bytes))
    fs.writeFileSync(layout.numbered(id, 7), 'late')
    await store.discardStaged(id)
    assert.deepEqual(fs.readdirSync(place.staging), [])
  })
})
