import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { layoutOf } from './layout.ts'
import { openAlone } from './lone-writer.ts'
import { scratch } from './scratch.suite.ts'

const MiB = 1024 * 1024

describe('writing alone to the file of an assembly', () => {
  const begin = (t: TestContext, bytes: Buffer) => {
    const place = scratch(t)
    const layout = layoutOf(place.root, place.staging)
    fs.mkdirSync(place.staging, { recursive: true })
    const id = randomUUID()
    const path = layout.staged(id)
    fs.writeFileSync(path, bytes)
    const inode = (): number => fs.statSync(path).ino
    const names = (): string[] => fs.readdirSync(place.staging)
    return { layout, id, path, inode, names }
  }

  it('leaves the file as it is while nobody else may write', async (t) => {
    const { layout, id, path, inode, names } = begin(t, randomBytes(1_000))
    const before = inode()
    for (let part = 0; part < 3; part++) {
      const alone = await openAlone(layout, id)
      fs.writeSync(alone.descriptor, 'own', part)
      fs.closeSync(alone.descriptor)
      await alone.settled()
    }
    assert.equal(inode(), before)
    assert.equal(fs.readFileSync(path).toString('latin1', 0, 3), 'ooo')
    assert.deepEqual(names(), [id])
  })

  it('takes another file, of the same bytes and holes, while somebody may still write', async (t) => {
    const bytes = Buffer.concat([randomBytes(2 * MiB + 5), Buffer.alloc(20 * MiB), randomBytes(7)])
    const { layout, id, path, inode, names } = begin(t, bytes)
    const hanging = await openAlone(layout, id)
    const before = inode()
    const next = await openAlone(layout, id)
    assert.notEqual(inode(), before)
    assert.ok(fs.readFileSync(path).equals(bytes))
    assert.ok(fs.statSync(path).blocks * 512 < 10 * MiB, 'the hole takes room')
    fs.writeSync(hanging.descriptor, 'late', 0)
    fs.writeSync(next.descriptor, 'right', 0)
    assert.equal(fs.readFileSync(path).toString('latin1', 0, 5), 'right')
    await next.settled()
    const again = await openAlone(layout, id)
    assert.equal(fs.fstatSync(again.descriptor).ino, inode(), 'one copy is enough')
    await again.settled()
    await hanging.settled()
    assert.deepEqual(names(), [id])
    for (const { descriptor } of [hanging, next, again]) fs.closeSync(descriptor)
  })

  it('leaves nothing where there is no room for a copy', async (t) => {
    const { layout, id, inode, names } = begin(t, randomBytes(MiB))
    const hanging = await openAlone(layout, id)
    const before = inode()
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
    assert.equal(inode(), before)
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
    const before = inode()
    // A number that no process has, one of somebody who began at another time, and one in a container beside us.
    const gone = [`${boot}.${space}.4194999.1.00000000`, `${boot}.${space}.${process.ppid}.1.00000000`]
    for (const writer of gone) fs.linkSync(path, layout.writer(id, writer))
    const alone = await openAlone(layout, id)
    assert.equal(inode(), before)
    await alone.settled()
    fs.closeSync(alone.descriptor)
    assert.deepEqual(names(), [id])
    fs.linkSync(path, layout.writer(id, `${boot}.1.4194999.${since}.00000000`))
    const careful = await openAlone(layout, id)
    assert.notEqual(inode(), before)
    await careful.settled()
    fs.closeSync(careful.descriptor)
  })
})
