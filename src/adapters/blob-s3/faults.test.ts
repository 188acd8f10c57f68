import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, it } from 'node:test'
import {
  errorBody,
  type Fault,
  type FaultyProxy,
  type Seen,
  startFaultyProxy,
} from '../../../test/harness/faulty-proxy.ts'
import { createBucket, type TestBucket } from '../../../test/harness/object-store.ts'
import { objectStoreUrl, stopOwnObjectStore } from '../../../test/harness/shared-object-store.ts'
import { until } from '../../../test/harness/until.ts'
import { objectStoreTriesMax } from '../../kernel/limits/engines.ts'
import { MiB } from '../../kernel/units.ts'
import { AssemblyLost, type BlobStore, BlobStoreUnavailable } from '../../ports/blob-store.ts'
import { get, nameOf, put, rest, same, stagedIds } from '../../ports/storing.suite.ts'
import { openBlobS3 } from './blob-s3.ts'

/** For faults that are answered: pauses are short, and a machine that is busy may take its time. */
const calm = { pauseFirstMs: 10 }
/** For a store that says nothing. */
const hasty = { answerMs: 1_000, idleMs: 500, workMs: 1_000, pauseFirstMs: 10 }

/** What an object store and the network before it do at times. Each fault is played by a proxy before a real store. */
describe('an object store that fails', () => {
  let proxy: FaultyProxy
  let bucket: TestBucket
  let store: BlobStore
  before(async () => {
    proxy = await startFaultyProxy(await objectStoreUrl())
    bucket = await createBucket(proxy.url)
    Object.assign(process.env, bucket.credentials)
    store = await openBlobS3(bucket.place, calm)
  })
  after(async () => {
    await proxy.close()
    await stopOwnObjectStore()
  })
  afterEach(() => {
    proxy.fault = () => null
  })

  const counted = async (run: () => Promise<unknown>): Promise<Seen[]> => {
    const from = proxy.seen.length
    await run()
    return proxy.seen.slice(from)
  }
  /** Does something to the first requests that match, as often as said. */
  const disturb = (matches: (seen: Seen) => boolean, fault: Fault, times = 1): void => {
    let left = times
    proxy.fault = (seen) => (matches(seen) && left-- > 0 ? fault : null)
  }
  const declared = (bytes: Uint8Array) => ({ name: nameOf(bytes), bytes: bytes.byteLength })
  const isPart = ({ method, target }: Seen): boolean => method === 'PUT' && target.includes('partNumber=')
  const isCompletion = ({ method, target }: Seen): boolean => method === 'POST' && /[?&]uploadId=/.test(target)
  const isRead = ({ method, target }: Seen): boolean => method === 'GET' && target.includes('/blobs/')
  const busy = { kind: 'answer', status: 503, body: errorBody('SlowDown') } as const

  describe('is asked for no more than it takes', () => {
    it('what is under way is asked when its bytes came last', async () => {
      const bytes = randomBytes(48 * MiB)
      const staged = await store.stage(randomUUID(), declared(bytes))
      const write = async (from: number, to: number): Promise<void> => {
        for (let at = from; at < to; at += MiB) await staged.write(Uint8Array.from(bytes.subarray(at, at + MiB)))
      }
      const remains = async () => {
        const all = await Array.fromAsync(store.listStaged())
        return all.find(({ lastWrittenMs }) => lastWrittenMs !== undefined)
      }
      await write(0, 20 * MiB)
      await until('it has begun', async () => (await remains()) !== undefined)
      const begun = await remains()
      const before = (await begun?.lastWrittenMs?.()) ?? Number.NaN
      await write(20 * MiB, 48 * MiB)
      await until('more has come', async () => ((await begun?.lastWrittenMs?.()) ?? 0) > before)
      assert.ok(before >= (begun?.modifiedAtMs ?? Number.NaN))
      await staged.discard()
      assert.equal(await begun?.lastWrittenMs?.(), begun?.modifiedAtMs)
    })

    it('one request stores what is small, declared or not', async () => {
      for (const known of [true, false]) {
        const bytes = randomBytes(100_000)
        const seen = await counted(() => put(store, bytes, 64 * 1024, known ? declared(bytes) : undefined))
        assert.deepEqual(
          seen.map(({ method, copies }) => [method, copies]),
          [['PUT', false]],
        )
      }
    })

    it('what is declared goes to its final key in parts, and nothing is copied or staged', async () => {
      const bytes = randomBytes(20 * MiB)
      const seen = await counted(() => put(store, bytes, 300_001, declared(bytes)))
      assert.ok(seen.every(({ copies, target }) => !copies && !target.includes('/staging/')))
      assert.ok(seen.every(({ target }) => target.includes(nameOf(bytes))))
      assert.equal(seen.filter(isPart).length, 3)
      assert.equal(seen.filter(isCompletion).length, 1)
    })

    it('what is not declared is copied once by the store, and its staging object goes', async () => {
      const bytes = randomBytes(20 * MiB)
      const seen = await counted(() => put(store, bytes, 300_001))
      assert.equal(seen.filter(({ copies }) => copies).length, 1)
      assert.deepEqual(await stagedIds(store), [])
      same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
    })

    it('parts of an assembly that come in order are copied never', async () => {
      const bytes = randomBytes(8 * MiB + 5)
      const plan = { ...declared(bytes), partBytes: 8 * MiB }
      const seen = await counted(async () => {
        const assembly = store.assembly(await store.beginAssembly(randomUUID(), plan), plan)
        const receipts: string[] = []
        for (const index of [0, 1]) {
          const part = await assembly.writePart(index, { readBack: false })
          await part.write(Uint8Array.from(bytes.subarray(index * 8 * MiB, (index + 1) * 8 * MiB)))
          receipts.push(await part.finish())
        }
        const parts = async function* () {
          for (const [index, receipt] of receipts.entries()) yield { index, receipt }
        }
        await assembly.publish(parts())
      })
      assert.ok(seen.every(({ copies, target }) => !copies && !target.includes('/staging/')))
    })

    it('a part of more than 8 MiB is streamed', async () => {
      const bytes = randomBytes(20 * MiB)
      const plan = { ...declared(bytes), partBytes: 16 * MiB }
      const place = await store.beginAssembly(randomUUID(), plan)
      const assembly = store.assembly(place, plan)
      const parts: { index: number; receipt: string }[] = []
      for (const index of [0, 1]) {
        const part = await assembly.writePart(index, { readBack: false })
        const whole = bytes.subarray(index * 16 * MiB, (index + 1) * 16 * MiB)
        for (let at = 0; at < whole.byteLength; at += 500_000)
          await part.write(Uint8Array.from(whole.subarray(at, at + 500_000)))
        parts.push({ index, receipt: await part.finish() })
      }
      await assembly.publish(
        (async function* () {
          yield* parts
        })(),
      )
      same(await get(store, plan.name, { start: 0, end: plan.bytes }, plan.bytes), bytes)
    })
  })

  describe('is asked again', () => {
    it('when it is busy or broken for a moment', async () => {
      for (const fault of [
        busy,
        { kind: 'answer', status: 500, body: errorBody('InternalError') },
        { kind: 'cut', afterBytes: 0 },
      ] as const) {
        const bytes = randomBytes(20 * MiB)
        disturb(isPart, fault, objectStoreTriesMax - 1)
        await put(store, bytes, MiB, declared(bytes))
        proxy.fault = () => null
        same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
      }
    })

    it('no more often than is sensible; then it is unavailable, and nothing is left behind', async () => {
      const bytes = randomBytes(20 * MiB)
      proxy.fault = (seen) => (isPart(seen) ? busy : null)
      const staged = await store.stage(randomUUID(), declared(bytes))
      const seen = await counted(() =>
        assert.rejects(async () => {
          for (let at = 0; at < bytes.byteLength; at += MiB)
            await staged.write(Uint8Array.from(bytes.subarray(at, at + MiB)))
          await staged.publish(nameOf(bytes))
        }, BlobStoreUnavailable),
      )
      const tries = new Map<string, number>()
      for (const { target } of seen.filter(isPart)) tries.set(target, (tries.get(target) ?? 0) + 1)
      for (const count of tries.values()) assert.ok(count <= objectStoreTriesMax, `${count} tries`)
      await staged.discard()
      proxy.fault = () => null
      assert.deepEqual(await stagedIds(store), [])
      assert.equal(await store.size(nameOf(bytes)), null)
    })

    it('for the rest of a download that was cut, at any point, and the bytes are whole', async () => {
      const bytes = randomBytes(5 * MiB)
      const name = await put(store, bytes)
      for (const afterBytes of [0, 1, 700_000, 4 * MiB]) {
        disturb(isRead, { kind: 'cut', afterBytes })
        same(await get(store, name, { start: 3, end: bytes.byteLength }), bytes.subarray(3))
      }
    })

    it('for the outcome, when the answer to a completion was lost', async () => {
      const bytes = randomBytes(9 * MiB)
      disturb(isCompletion, { kind: 'lose' })
      await put(store, bytes, MiB, declared(bytes))
      same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
    })

    it('when a completion says 200 and then an error', async () => {
      const bytes = randomBytes(9 * MiB)
      disturb(isCompletion, { kind: 'answer', status: 200, body: errorBody('InternalError') })
      await put(store, bytes, MiB, declared(bytes))
      same(await get(store, nameOf(bytes), { start: 0, end: bytes.byteLength }), bytes)
    })
  })

  describe('is given up', () => {
    it('when it is silent, soon, whatever it was asked', async () => {
      const name = await put(store, randomBytes(1_000))
      const impatient = await openBlobS3(bucket.place, hasty)
      proxy.fault = () => ({ kind: 'silence' })
      for (const call of [
        () => impatient.size(name),
        () => get(impatient, name, { start: 0, end: 1_000 }),
        () => impatient.probe(),
        () => put(impatient, randomBytes(1_000)),
        () => impatient.delete(name),
        () => Array.fromAsync(impatient.list()),
      ])
        await assert.rejects(call, BlobStoreUnavailable)
    })

    it('when a download is cut again and again', async () => {
      const name = await put(store, randomBytes(3 * MiB))
      proxy.fault = (seen) => (isRead(seen) ? { kind: 'cut', afterBytes: 0 } : null)
      await assert.rejects(async () => rest(await store.open(name, { start: 0, end: 3 * MiB })), BlobStoreUnavailable)
    })

    it('when nobody answers', async () => {
      const nobody = { ...bucket.place, endpoint: 'http://127.0.0.1:9' }
      await assert.rejects(openBlobS3(nobody, calm), BlobStoreUnavailable)
    })
  })

  describe('says what to do', () => {
    it('when the bucket is missing, or the key is unknown or wrong', async () => {
      const missing = { ...bucket.place, bucket: `missing-${randomUUID()}` }
      await assert.rejects(openBlobS3(missing, calm), /there is no such bucket; create it, or correct SVC_BLOB_STORE/)
      const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = bucket.credentials
      for (const [wrong, says] of [
        [{ AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY }, /does not know the access key/],
        [{ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: 'not the secret' }, /the secret is wrong/],
      ] as const) {
        Object.assign(process.env, wrong)
        await assert.rejects(openBlobS3(bucket.place, calm), (error: Error) => {
          assert.match(error.message, says)
          assert.ok(!error.message.includes(AWS_SECRET_ACCESS_KEY))
          return error instanceof BlobStoreUnavailable
        })
      }
      Object.assign(process.env, bucket.credentials)
    })

    it('a file whose upload was swept meanwhile is not an assembly that is lost', async () => {
      const bytes = randomBytes(20 * MiB)
      const staged = await store.stage(randomUUID(), declared(bytes))
      for (let at = 0; at < bytes.byteLength; at += MiB)
        await staged.write(Uint8Array.from(bytes.subarray(at, at + MiB)))
      for await (const { place } of store.listStaged()) await store.discardStaged(place)
      await assert.rejects(staged.publish(nameOf(bytes)), (error) => !(error instanceof AssemblyLost))
      await staged.discard()
    })
  })
})
