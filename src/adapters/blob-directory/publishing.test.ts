import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { basename } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { AssemblyLost, BlobStoreUnavailable, unplanned } from '../../ports/blob-store.ts'
import { put } from '../../ports/storing.suite.ts'
import { openBlobDirectory } from './blob-directory.ts'
import { failure, nameInShard, openFilesUnder, scratch, until } from './scratch.suite.ts'

type Done = (error: Error | null) => void
type OneDescriptor = (descriptor: number, done: Done) => void

/** The file behind an open descriptor, by its place where it was opened by the name of a writer. */
const nameOf = (descriptor: number): string =>
  basename(fs.readlinkSync(`/proc/self/fd/${descriptor}`)).replace(/\..*/, '')

/** Notes each call when it begins and when it has ended, in order. */
const trace = (t: TestContext): string[] => {
  const events: string[] = []
  for (const call of ['fsync', 'fdatasync', 'close'] as const) {
    const real: OneDescriptor = fs[call]
    t.mock.method(fs, call, (descriptor: number, done: Done) => {
      const name = nameOf(descriptor)
      events.push(`${call} ${name}`)
      real(descriptor, (error) => {
        events.push(`${call} ${name} done`)
        done(error)
      })
    })
  }
  const rename = fs.rename
  t.mock.method(fs, 'rename', (from: string, to: string, done: Done) => {
    events.push(`rename ${basename(from)} ${basename(to)}`)
    rename(from, to, (error) => {
      events.push(`rename ${basename(from)} ${basename(to)} done`)
      done(error)
    })
  })
  const write = fs.write
  t.mock.method(
    fs,
    'write',
    (descriptor: number, bytes: Buffer, offset: number, length: number, at: number, done: Done) => {
      events.push(`write ${nameOf(descriptor)}`)
      write(descriptor, bytes, offset, length, at, done)
    },
  )
  return events
}

describe('publishing', () => {
  it('syncs the bytes, renames, syncs the shard, and only then resolves', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const id = randomUUID()
    const staged = await store.stage(id, unplanned)
    const events = trace(t)
    const name = nameInShard('ab')
    await staged.write(randomBytes(1000))
    await staged.publish(name)
    events.push('published')
    const steps = [`fdatasync ${id}`, `close ${id}`, `rename ${id} ${name}`, 'fsync ab']
    const expected = [`write ${id}`, ...steps.flatMap((step) => [step, `${step} done`]), 'published']
    assert.deepEqual(
      events.filter((event) => !event.startsWith('close ab')),
      expected,
    )
  })

  it('shares the sync of a shard, but only one that began after the rename', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const digests = Array.from({ length: 40 }, () => nameInShard('cd'))
    const stages = await Promise.all(digests.map(() => store.stage(randomUUID(), unplanned)))
    const events = trace(t)
    await Promise.all(
      stages.map(async (staged, n) => {
        const name = digests[n]
        if (name === undefined) throw new Error('as many digests as stages')
        await staged.publish(name)
        events.push(`published ${name}`)
      }),
    )
    const syncs = events.filter((event) => event === 'fsync cd').length
    assert.ok(syncs < 40, `${syncs} syncs for 40 blobs`)
    for (const name of digests) {
      const renamed = events.findIndex((event) => event.startsWith('rename') && event.endsWith(`${name} done`))
      const began = events.indexOf('fsync cd', renamed)
      const ended = events.indexOf('fsync cd done', began)
      assert.ok(renamed >= 0 && renamed < began && began < ended && ended < events.indexOf(`published ${name}`))
    }
  })

  it('names each of many once its bytes are synced, and syncs their shard once they all have names', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const events = trace(t)
    const batch = store.batch()
    const names = Array.from({ length: 20 }, () => nameInShard('ab'))
    await Promise.all(names.map((name) => batch.put(`of-${name.slice(0, 32)}`, name, randomBytes(1000))))
    for (const name of names) {
      const steps = [`fdatasync of-${name.slice(0, 32)} done`, `rename of-${name.slice(0, 32)} ${name}`]
      const [synced = -1, renamed = -1] = steps.map((step) => events.indexOf(step))
      assert.ok(synced >= 0 && synced < renamed)
    }
    assert.ok(!events.includes('fsync ab'))
    const before = events.length
    await batch.settle()
    assert.deepEqual(
      events.slice(before).filter((event) => event.startsWith('fsync')),
      ['fsync ab', 'fsync ab done'],
    )
  })

  it('shows none of many whose bytes cannot be synced, and settles nothing whose shard cannot be', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const name = nameInShard('ab')
    const broken = t.mock.method(fs, 'fdatasync', (_: number, done: Done) => done(failure('EIO')))
    await assert.rejects(store.batch().put('a', name, randomBytes(1000)), BlobStoreUnavailable)
    broken.mock.restore()
    assert.equal(await store.size(name), null)
    assert.deepEqual(fs.readdirSync(place.staging), [])
    assert.deepEqual(openFilesUnder(place), [])
    const batch = store.batch()
    await batch.put('b', name, randomBytes(1000))
    t.mock.method(fs, 'fsync', (_: number, done: Done) => done(failure('EIO')))
    await assert.rejects(batch.settle(), BlobStoreUnavailable)
  })

  it('fails for good when the bytes cannot be synced, and shows nothing', async (t) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const staged = await store.stage(randomUUID(), unplanned)
    await staged.write(randomBytes(1000))
    const name = nameInShard('01')
    const broken = t.mock.method(fs, 'fdatasync', (_: number, done: Done) => done(failure('EIO')))
    await assert.rejects(staged.publish(name), BlobStoreUnavailable)
    broken.mock.restore()
    await assert.rejects(staged.publish(name), 'a second try cannot know what was lost')
    assert.equal(await store.size(name), null)
    await staged.discard()
    assert.deepEqual(fs.readdirSync(place.staging), [])
    await until(
      () => openFilesUnder(place).length === 0,
      () => `left open: ${openFilesUnder(place)}`,
    )
  })

  it('fails for everyone who shared or awaited a sync of the shard that failed', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const stages = await Promise.all(Array.from({ length: 6 }, () => store.stage(randomUUID(), unplanned)))
    const fsync = fs.fsync
    let held: (() => void) | undefined
    const broken = t.mock.method(fs, 'fsync', (descriptor: number, done: Done) => {
      if (nameOf(descriptor) !== 'ef') fsync(descriptor, done)
      else held = () => done(failure('EIO'))
    })
    const rename = fs.rename
    let renamed = 0
    t.mock.method(fs, 'rename', (from: string, to: string, done: Done) =>
      rename(from, to, (error) => {
        done(error)
        renamed++
      }),
    )
    const outcomes = Promise.allSettled(stages.map((staged) => staged.publish(nameInShard('ef'))))
    await until(
      () => held !== undefined && renamed === stages.length,
      () => 'the sync never began',
    )
    held?.()
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof BlobStoreUnavailable)
    }
    broken.mock.restore()
    for (const staged of stages) await staged.discard()
    await put(store, randomBytes(10))
  })

  it('deletes durably', async (t) => {
    const store = await openBlobDirectory(scratch(t))
    const name = await put(store, randomBytes(10))
    const events = trace(t)
    await store.delete(name)
    assert.ok(events.includes(`fsync ${name.slice(0, 2)} done`))
  })
})

describe('a part in a file', () => {
  const begin = async (t: TestContext) => {
    const place = scratch(t)
    const store = await openBlobDirectory(place)
    const plan = { name: nameInShard('ab'), bytes: 2000, partBytes: 1000 }
    const id = await store.beginAssembly(randomUUID(), plan)
    return { place, store, id, assembly: store.assembly(id, plan) }
  }

  it('is finished once it is synced', async (t) => {
    const { place, id, assembly } = await begin(t)
    const events = trace(t)
    const part = await assembly.writePart(1, { readBack: false })
    await part.write(randomBytes(1000))
    await part.finish()
    events.push('finished')
    const expected = [`write ${id}`, `fdatasync ${id}`, `fdatasync ${id} done`, 'finished']
    assert.deepEqual(
      events.filter((event) => !event.startsWith('close')),
      expected,
    )
    await until(
      () => openFilesUnder(place).length === 0,
      () => `left open: ${openFilesUnder(place)}`,
    )
  })

  it('is not finished when it cannot be synced', async (t) => {
    const { place, assembly } = await begin(t)
    const part = await assembly.writePart(0, { readBack: false })
    await part.write(randomBytes(1000))
    const broken = t.mock.method(fs, 'fdatasync', (_: number, done: Done) => done(failure('EIO')))
    await assert.rejects(part.finish(), BlobStoreUnavailable)
    broken.mock.restore()
    await assert.rejects(part.finish(), 'a second try cannot know what was lost')
    await part.discard()
    await until(
      () => openFilesUnder(place).length === 0,
      () => `left open: ${openFilesUnder(place)}`,
    )
  })

  it('is not published by a name whose sync had failed, as long as the process lives', async (t) => {
    const { assembly } = await begin(t)
    for (const index of [0, 1]) {
      const part = await assembly.writePart(index, { readBack: false })
      await part.write(randomBytes(1000))
      await part.finish()
    }
    const fsync = fs.fsync
    const broken = t.mock.method(fs, 'fsync', (descriptor: number, done: Done) =>
      nameOf(descriptor) === 'ab' ? done(failure('EIO')) : fsync(descriptor, done),
    )
    const parts = async function* () {}
    await assert.rejects(assembly.publish(parts()), BlobStoreUnavailable)
    broken.mock.restore()
    await assert.rejects(assembly.publish(parts()), AssemblyLost)
    await assert.rejects(assembly.settleName(), BlobStoreUnavailable)
  })

  it('is given up without a word where its file could not be opened', async (t) => {
    const { store, id, assembly } = await begin(t)
    await store.discardStaged(id)
    const part = await assembly.writePart(0, { readBack: false })
    await part.discard()
    await part.discard()
  })

  /** A part whose file opens when `go` is called. */
  const openingLate = async (t: TestContext, mayWrite: () => void = () => {}) => {
    const { assembly, place } = await begin(t)
    const open = fs.open
    let go = (): void => {}
    const held = t.mock.method(fs, 'open', (...call: Parameters<typeof open>) => {
      go = () => open(...call)
    })
    const part = await assembly.writePart(0, { readBack: false, mayWrite })
    held.mock.restore()
    return { part, place, go: () => go(), writes: t.mock.method(fs, 'write') }
  }

  it('writes nothing that was given up before its file was open', async (t) => {
    const { part, place, go, writes } = await openingLate(t)
    await part.write(randomBytes(500))
    const discarded = part.discard()
    go()
    await discarded
    assert.equal(writes.mock.callCount(), 0)
    await until(
      () => openFilesUnder(place).length === 0,
      () => `left open: ${openFilesUnder(place)}`,
    )
  })

  it('asks before every write, and writes no more once it may not', async (t) => {
    let asked = 0
    const { part, go, writes } = await openingLate(t, () => {
      if (++asked === 2) throw new Error('somebody else writes here')
    })
    await part.write(randomBytes(400))
    assert.equal(asked, 0)
    go()
    await until(
      () => writes.mock.callCount() === 1,
      () => 'the first piece is not written',
    )
    await part.write(randomBytes(600)).catch(() => {})
    await assert.rejects(part.finish(), /somebody else writes here/)
    assert.deepEqual([asked, writes.mock.callCount()], [2, 1])
    await part.discard()
  })

  it('closes its file once, after its last sync, whoever gives it up meanwhile', async (t) => {
    const { id, assembly } = await begin(t)
    const events = trace(t)
    const part = await assembly.writePart(0, { readBack: false })
    await part.write(randomBytes(1000))
    await Promise.allSettled([part.finish(), part.discard(), part.discard()])
    await until(
      () => events.includes(`close ${id} done`),
      () => `not closed: ${events}`,
    )
    const ended = events.filter((event) => /^(close|fdatasync) /.test(event))
    assert.equal(ended.filter((event) => event === `close ${id}`).length, 1)
    assert.ok(ended.indexOf(`close ${id}`) > ended.lastIndexOf(`fdatasync ${id} done`), ended.join(', '))
  })
})
