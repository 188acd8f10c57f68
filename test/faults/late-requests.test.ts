import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { partBytesMin, uploadLeaseMs } from '../../src/kernel/limits/transfers.ts'
import { type BlobStoreBehindProxy, blobStoreBehindProxy } from '../harness/behind-proxy.ts'
import { closeConnections } from '../harness/client.ts'
import { onPostgres } from '../harness/engines.ts'
import type { Fault, Seen } from '../harness/faulty-proxy.ts'
import { errorBody } from '../harness/faulty-proxy.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { startService, type TestService } from '../harness/service.ts'
import { type ServiceApart, startServiceApart } from '../harness/service-apart.ts'
import {
  bytesOf,
  complete,
  type File,
  fetchBytes,
  fileOf,
  inParts,
  openSession,
  partsOf,
  sendPart,
  storedParts,
  type Target,
  uploadPlace,
  withChecksum,
} from './uploads.ts'

/**
 * Requests to the object store that come late, again, or with the wrong answer; between two gateways, one of which
 * dies.
 */

endProgramsAfterTests()
after(closeConnections)

onPostgres((engine) => {
  let store: BlobStoreBehindProxy
  let survivor: TestService
  let dying: ServiceApart
  let here: Target
  let there: Target
  let files = 0

  before(async () => {
    store = await blobStoreBehindProxy()
    const { blobStoreUrl } = store
    const databaseUrl = await engine.freshDatabaseUrl()
    survivor = await startService(engine, { settings: { SVC_BLOB_STORE: blobStoreUrl, SVC_DATABASE_URL: databaseUrl } })
    const on = { dataDir: survivor.dataDir, databaseUrl, blobStoreUrl }
    dying = await startServiceApart(engine, { on, roles: { gateway: 'api', worker: false } })
    const credential = survivor.recoveryKey
    here = { url: survivor.url, credential }
    there = {
      get url() {
        return dying.url
      },
      credential,
    }
  })
  beforeEach(() => {
    store.proxy.fault = () => null
    store.proxy.held.length = 0
  })
  after(async () => {
    await dying.stop()
    await survivor.stop()
    await store[Symbol.asyncDispose]()
  })

  const disturb = (matches: (seen: Seen) => boolean, fault: Fault, times = Number.POSITIVE_INFINITY): void => {
    let left = times
    store.proxy.fault = (seen) => (matches(seen) && left-- > 0 ? fault : null)
  }

  /** Two parts, of which the first is whole. */
  const nextFile = (): File => {
    const name = `late-${++files}`
    return fileOf(name, Buffer.concat([bytesOf(name, partBytesMin), bytesOf(`${name} rest`, 100_000)]))
  }

  const begin = async (file: File): Promise<string> => {
    const told = await openSession(here, file)
    assert.equal(told.status, 201, told.text)
    return uploadPlace(told)
  }

  const send = async (upload: string, file: File, index: number): Promise<void> => {
    const told = await sendPart(here, upload, index, partsOf(file)[index] ?? Buffer.alloc(0))
    assert.equal(told.status, 204, told.text)
  }

  const isLoosePart = ({ method, target, copies }: Seen): boolean =>
    method === 'PUT' && target.includes('/staging/') && !copies
  const isCopy = ({ method, copies }: Seen): boolean => method === 'PUT' && copies
  const isUploadPart = ({ method, target, copies }: Seen): boolean =>
    method === 'PUT' && target.includes('partNumber=') && !copies
  const isCompletion = ({ method, target }: Seen): boolean => method === 'POST' && /[?&]uploadId=/.test(target)
  const isLook = ({ method, target }: Seen): boolean => method === 'HEAD' && target.includes('/blobs/')
  const isDeletionOfBlob = ({ method, target }: Seen): boolean =>
    method === 'DELETE' && target.includes('/blobs/') && !target.includes('uploadId=')
  const isReadOfPart = ({ method, target }: Seen): boolean =>
    method === 'GET' && target.includes('/staging/') && !target.includes('list-type')
  const isAbort = ({ method, target }: Seen): boolean => method === 'DELETE' && target.includes('uploadId=')

  /** A part with other bytes whose sender dies while the store has not got it. Its turn lapses. */
  const diesSending = async (upload: string, index: number, part: Buffer): Promise<void> => {
    disturb((seen) => isLoosePart(seen) || isUploadPart(seen), { kind: 'hold' }, 1)
    const unanswered = assert.rejects(sendPart(there, upload, index, part))
    await store.proxy.holds()
    await dying.kill()
    await unanswered
    await dying.start()
    survivor.clock.advance(uploadLeaseMs * 2)
  }

  const contentOf = (upload: string): Promise<Buffer | null> =>
    fetchBytes(here, `${upload.replace('/uploads/', '/artifacts/')}/content`)

  describe('a part that reaches the store after its sender died and another try was answered', () => {
    it('is neither read back nor published, whenever it comes', async () => {
      const file = nextFile()
      const upload = await begin(file)
      await diesSending(upload, 1, Buffer.alloc(100_000, 'other'))
      await send(upload, file, 1)
      const [late] = store.proxy.held
      await late?.apply()
      await send(upload, file, 0)
      // And again, after everything was read back and found right, and before it is copied.
      disturb(isCopy, { kind: 'hold' }, 1)
      const completing = complete(here, upload)
      const [, copy] = await store.proxy.holds(2)
      assert.equal((await late?.apply())?.status, 200)
      await copy?.apply()
      const told = await completing
      assert.equal(told.status, 200, told.text)
      assert.ok((await contentOf(upload))?.equals(file.bytes), 'other bytes bear the digest')
    })

    it('of the upload itself: nothing wrong is published, and the client is told to begin anew', async () => {
      const file = nextFile()
      const upload = await begin(file)
      await diesSending(upload, 0, Buffer.alloc(partBytesMin, 'other'))
      await send(upload, file, 0)
      await send(upload, file, 1)
      await store.proxy.held[0]?.apply()
      const told = await complete(here, upload)
      assert.deepEqual([told.status, told.json.code], [409, 'upload_state'], told.text)
      assert.match(told.text, /Cancel it and send it anew/)
    })

    it('with the same bytes is no harm', async () => {
      const file = nextFile()
      const upload = await begin(file)
      const [first = Buffer.alloc(0)] = partsOf(file)
      await diesSending(upload, 0, first)
      await send(upload, file, 0)
      await send(upload, file, 1)
      await store.proxy.held[0]?.apply()
      const told = await complete(here, upload)
      assert.equal(told.status, 200, told.text)
      assert.ok((await contentOf(upload))?.equals(file.bytes))
    })
  })

  describe('a completion', () => {
    it('that the store did and denied is done', async () => {
      const file = nextFile()
      disturb(isCompletion, { kind: 'deny', status: 500, body: errorBody('InternalError') }, 1)
      const told = await inParts.send(here, file)
      assert.equal(told.status, 200, told.text)
      assert.ok((await fetchBytes(here, inParts.place(file, told)))?.equals(file.bytes))
    })

    it('of which every answer was lost is done when it is asked for again', async () => {
      const file = nextFile()
      disturb(isCompletion, { kind: 'lose' })
      assert.equal((await inParts.send(here, file)).status, 503)
      store.proxy.fault = () => null
      const told = await inParts.send(here, file)
      assert.equal(told.status, 200, told.text)
      assert.ok((await fetchBytes(here, inParts.place(file, told)))?.equals(file.bytes))
    })

    it('that comes again after it was answered changes nothing', async () => {
      const file = nextFile()
      disturb(isCompletion, { kind: 'repeat' })
      const told = await inParts.send(here, file)
      assert.equal(told.status, 200, told.text)
      await store.proxy.held[0]?.apply()
      assert.ok((await fetchBytes(here, inParts.place(file, told)))?.equals(file.bytes))
    })

    it('that is held while its gateway dies can be asked for at another, and the late one changes nothing', async () => {
      const file = nextFile()
      const upload = await begin(file)
      await send(upload, file, 0)
      await send(upload, file, 1)
      disturb(isCompletion, { kind: 'hold' }, 1)
      const unanswered = assert.rejects(complete(there, upload))
      await store.proxy.holds()
      await dying.kill()
      await unanswered
      await dying.start()
      survivor.clock.advance(uploadLeaseMs * 2)
      const told = await complete(here, upload)
      assert.equal(told.status, 200, told.text)
      await store.proxy.held[0]?.apply()
      assert.ok((await contentOf(upload))?.equals(file.bytes))
    })

    it('that meets a late abort is answered as what it came to', async () => {
      const file = nextFile()
      const upload = await begin(file)
      await send(upload, file, 0)
      disturb(isAbort, { kind: 'hold' }, 1)
      // Another session of the same content, cancelled: what belongs to it goes, and nothing else.
      const twin = { ...file, path: `${file.path}-twin` }
      const other = await begin(twin)
      await send(other, twin, 0)
      const { status } = await survivor.ask({ method: 'DELETE', path: other, credential: here.credential })
      assert.equal(status, 200)
      await send(upload, file, 1)
      const told = await complete(here, upload)
      assert.equal(told.status, 200, told.text)
      for (const held of store.proxy.held) await held.apply()
      assert.ok((await contentOf(upload))?.equals(file.bytes))
      assert.equal((await storedParts(here, other)).size, 0)
    })
  })

  describe('two who publish the same content, which has one name in the store,', () => {
    const twinOf = (file: File): File => ({ ...file, path: `${file.path}-twin` })

    /** Whoever is in the middle of a completion meets the twin, stored in one piece and acknowledged meanwhile. */
    const overtaken = async (file: File, upload: string): Promise<void> => {
      await send(upload, file, 0)
      const from = store.proxy.seen.length
      const inTheMiddle = disturbedOnce(isLook)
      const completing = complete(here, upload)
      const [look] = await inTheMiddle()
      const twin = await withChecksum.send(here, twinOf(file))
      assert.equal(twin.status, 201, twin.text)
      await look?.apply()
      const told = await completing
      assert.equal(told.status, 200, told.text)
      assert.deepEqual(store.proxy.seen.slice(from).filter(isDeletionOfBlob), [])
      assert.ok((await contentOf(upload))?.equals(file.bytes))
      assert.ok((await fetchBytes(here, withChecksum.place(twinOf(file), twin)))?.equals(file.bytes))
    }

    /** Holds the first that matches. Faults that were set before go on for all others. */
    const disturbedOnce = (matches: (seen: Seen) => boolean) => {
      const others = store.proxy.fault
      let isHeld = false
      store.proxy.fault = (seen) => {
        if (isHeld || !matches(seen)) return others(seen)
        isHeld = true
        return { kind: 'hold' }
      }
      return () => store.proxy.holds()
    }

    /** In one request it gets another ETag than as an upload of one part. */
    const small = (): File => {
      const name = `late-${++files}`
      return fileOf(name, bytesOf(name, 50_000))
    }

    /** From then on it is known that this store makes ETags of MD5s. */
    const completeOne = async (): Promise<void> => {
      const told = await inParts.send(here, nextFile())
      assert.equal(told.status, 200, told.text)
    }

    it('never delete what the other one was acknowledged', async () => {
      await completeOne()
      const file = small()
      await overtaken(file, await begin(file))
    })

    it('take what is there for their own when they were not told what became of it, since it has the digest', async () => {
      await completeOne()
      const file = small()
      disturb(isCompletion, { kind: 'deny', status: 404, body: errorBody('NoSuchUpload') }, 1)
      await overtaken(file, await begin(file))
    })

    it('keep their bytes to themselves when the other one declared a digest that it has not, and the store denies a part of it', async () => {
      const file = nextFile()
      const acknowledged = await withChecksum.send(here, file)
      assert.equal(acknowledged.status, 201, acknowledged.text)
      const pretended = { ...nextFile(), sha256: file.sha256 }
      const upload = await begin(pretended)
      // Out of order, so that they are read before they are published.
      await send(upload, pretended, 1)
      await send(upload, pretended, 0)
      disturb(isReadOfPart, { kind: 'answer', status: 404, body: errorBody('NoSuchKey') }, 1)
      const from = store.proxy.seen.length
      const told = await complete(here, upload)
      assert.deepEqual(store.proxy.seen.slice(from).filter(isCompletion), [])
      assert.ok((await fetchBytes(here, withChecksum.place(file, acknowledged)))?.equals(file.bytes))
      assert.deepEqual([told.status, told.json.code], [409, 'upload_state'], told.text)
      assert.equal(await contentOf(upload), null)
    })

    it('are told to begin anew when a part is denied and nobody has stored such bytes', async () => {
      const file = nextFile()
      const upload = await begin(file)
      await send(upload, file, 1)
      await send(upload, file, 0)
      disturb(isReadOfPart, { kind: 'answer', status: 404, body: errorBody('NoSuchKey') }, 1)
      const from = store.proxy.seen.length
      const told = await complete(here, upload)
      assert.deepEqual([told.status, told.json.code], [409, 'upload_state'], told.text)
      assert.deepEqual(store.proxy.seen.slice(from).filter(isCompletion), [])
    })
  })
})
