import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createRing, RingReader, RingWriter } from './ring.ts'

const ringBytes = 1024

const sides = (size = ringBytes) => {
  const ring = createRing(size)
  let told = 0
  const writer = new RingWriter(ring)
  const reader = new RingReader(ring, () => {
    told++
  })
  return { writer, reader, told: () => told }
}

const taken = (reader: RingReader) => {
  let copy: { numbers: number[]; bytes: Buffer } | undefined
  reader.take(({ operation, subject, other, bytes }) => {
    copy = { numbers: [operation, subject, other], bytes: Buffer.concat(bytes) }
  })
  return copy
}

describe('a ring between two threads', () => {
  it('gives every record in its order, whole, wherever the end of the ring falls', () => {
    const step = fc.oneof(
      fc.record({ bytes: fc.uint8Array({ maxLength: ringBytes / 4 - 16, size: 'max' }), number: fc.nat() }),
      fc.constant('take' as const),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const { writer, reader } = sides()
        const waiting: { numbers: number[]; bytes: Buffer }[] = []
        let used = 0
        const sizeOf = (bytes: Uint8Array): number => 16 + Math.ceil(bytes.byteLength / 16) * 16
        for (const wanted of steps)
          if (wanted === 'take') {
            const next = waiting.shift()
            if (next === undefined) continue
            used -= sizeOf(next.bytes)
            assert.deepEqual(taken(reader), next)
          } else {
            const { bytes, number } = wanted
            const hasRoom = used + sizeOf(bytes) <= ringBytes
            assert.equal(writer.offer(7, number, number % 3, bytes), hasRoom)
            if (!hasRoom) continue
            used += sizeOf(bytes)
            waiting.push({ numbers: [7, number, number % 3], bytes: Buffer.from(bytes) })
          }
      }),
    )
  })

  it('says that there is room once half of it is free, if somebody found none', () => {
    const { writer, reader, told } = sides()
    const quarter = new Uint8Array(writer.bytesMax)
    for (let n = 0; n < 4; n++) assert.equal(writer.offer(1, n, 0, quarter), true)
    taken(reader)
    taken(reader)
    assert.equal(told(), 0)
    for (let n = 0; n < 2; n++) assert.equal(writer.offer(1, n, 0, quarter), true)
    assert.equal(writer.offer(1, 9, 0, quarter), false)
    taken(reader)
    assert.equal(told(), 0)
    taken(reader)
    assert.equal(told(), 1)
    taken(reader)
    assert.equal(told(), 1)
  })

  it('wakes its reader for an eighth of the ring, or when told to', (t) => {
    const { writer, reader } = sides()
    const woken = t.mock.method(Atomics, 'notify')
    const wakes = (): number => woken.mock.callCount()
    for (let n = 0; n < 7; n++) writer.offer(1, n, 0, new Uint8Array(0))
    assert.equal(wakes(), 0)
    writer.offer(1, 7, 0, new Uint8Array(0))
    assert.equal(wakes(), 1)
    for (let n = 0; n < 8; n++) taken(reader)
    writer.offer(1, 8, 0, new Uint8Array(0))
    assert.equal(wakes(), 1)
    writer.wake()
    assert.equal(wakes(), 2)
  })

  it('goes on when its positions have come round', () => {
    const { writer, reader } = sides(2 ** 20)
    const bytes = Buffer.alloc(writer.bytesMax)
    for (let written = 0, number = 0; written < 2 ** 32 + 2 ** 21; written += bytes.byteLength, number++) {
      bytes.writeUInt32LE(number)
      assert.equal(writer.offer(1, number, 0, bytes), true)
      reader.take((record) => {
        assert.equal(record.subject, number)
        assert.equal(Buffer.concat(record.bytes.map((piece) => piece.subarray(0, 4))).readUInt32LE(), number)
      })
    }
  })

  it('takes no record that is longer than a quarter, and has a size that is a power of two', () => {
    const { writer } = sides()
    assert.throws(() => writer.offer(1, 1, 0, new Uint8Array(writer.bytesMax + 1)), RangeError)
    assert.throws(() => createRing(1000), RangeError)
    assert.throws(() => createRing(512), RangeError)
  })
})
