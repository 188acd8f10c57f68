import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { createBucket } from '../../../test/harness/object-store.ts'
import { objectStoreUrl, stopOwnObjectStore } from '../../../test/harness/shared-object-store.ts'
import { AssemblyLost, type FinishedPart } from '../../ports/blob-store.ts'
import { get, nameOf, rest, same } from '../../ports/storing.suite.ts'
import { openBlobS3 } from './blob-s3.ts'
import { bucketAt, patience } from './bucket.ts'
import { putObject } from './objects.ts'

after(stopOwnObjectStore)

const inOrder = async function* (...parts: readonly FinishedPart[]): AsyncGenerator<FinishedPart> {
  yield* parts
}

describe('receipts of parts that came out of order', () => {
  const begin = async () => {
    const { place: at, credentials } = await createBucket(await objectStoreUrl())
    Object.assign(process.env, credentials)
    const store = await openBlobS3(at)
    const bytes = randomBytes(1000)
    const plan = { name: nameOf(bytes), bytes: bytes.byteLength, partBytes: bytes.byteLength }
    const place = await store.beginAssembly(randomUUID(), plan)
    return { at, store, bytes, plan, place, assembly: store.assembly(place, plan) }
  }

  it('of the time before each try had its own key are read, published, and their objects go', async () => {
    const { at, store, bytes, plan, place, assembly } = await begin()
    const bucket = bucketAt(at, patience)
    const part = { index: 0, receipt: `loose ${await putObject(bucket, bucket.keys.staged(place, 0), bytes)}` }
    same(await rest(await assembly.readPart(part)), bytes)
    await assembly.publish(inOrder(part))
    same(await get(store, plan.name, { start: 0, end: plan.bytes }, plan.bytes), bytes)
    await assert.rejects(assembly.readPart(part), AssemblyLost)
  })

  it('that nobody can read name parts that are lost', async () => {
    const { store, plan, assembly } = await begin()
    for (const receipt of [
      '',
      'loose',
      'loose ',
      'something "else"',
      `loose ${randomUUID()} `,
      `part ${'e'.repeat(500)}`,
    ]) {
      await assert.rejects(assembly.readPart({ index: 0, receipt }), AssemblyLost)
      await assert.rejects(assembly.publish(inOrder({ index: 0, receipt })), AssemblyLost)
    }
    assert.equal(await store.size(plan.name), null)
  })
})
