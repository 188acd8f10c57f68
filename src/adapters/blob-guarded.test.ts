import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toSha256 } from '../kernel/digest.ts'
import { blobName } from '../ports/blob-name.ts'
import type { BlobStore, FinishedPart, GrowingBlob } from '../ports/blob-store.ts'
import { guardBlobStore } from './blob-guarded.ts'

const name = blobName(toSha256('a'.repeat(64)), 'b'.repeat(32))
const whole = { start: 0, end: 2 }

const plan = { name, bytes: 2 }
const inParts = { name, bytes: 2, partBytes: 1 }

async function* onePiece(): AsyncGenerator<Uint8Array, undefined> {
  yield Uint8Array.of(1)
}

async function* noParts(): AsyncGenerator<FinishedPart> {}

/** A store that only notes what reaches it. */
const noting = (calls: string[]): BlobStore => {
  const note = async <T>(call: string, answer: T): Promise<T> => {
    calls.push(call)
    return answer
  }
  return {
    readsParts: true,
    stage: (id) =>
      note(`stage ${id}`, {
        write: (piece) => note(`write ${piece.byteLength}`, undefined),
        publish: (name) => note(`publish ${name}`, undefined),
        discard: () => note('discard', undefined),
      }),
    batch: () => ({
      put: (id, name, bytes) => note(`put ${id} as ${name} ${bytes.byteLength}`, undefined),
      settle: () => note('settle', undefined),
    }),
    beginAssembly: (id) => note(`beginAssembly ${id}`, `place of ${id}`),
    assembly: (place) => ({
      writePart: (index) =>
        note(`writePart ${index} of ${place}`, {
          write: (piece) => note(`write ${piece.byteLength}`, undefined),
          finish: () => note('finish', 'receipt'),
          discard: () => note('discard', undefined),
        }),
      readPart: ({ index, receipt }) => note(`readPart ${index} ${receipt}`, onePiece()),
      publish: () => note(`publish ${place}`, undefined),
      settleName: () => note(`settleName of ${place}`, undefined),
    }),
    growing: (id) => ({
      begin: () => note(`begin ${id}`, undefined),
      writeSegment: (index) =>
        note(`writeSegment ${index} of ${id}`, {
          write: (piece) => note(`write ${piece.byteLength}`, undefined),
          finish: () => note('finish', 'receipt'),
          discard: () => note('discard', undefined),
        }),
      readSegment: ({ index, receipt }) => note(`readSegment ${index} ${receipt}`, onePiece()),
      dropSegment: ({ index, receipt }) => note(`dropSegment ${index} ${receipt}`, undefined),
      publish: (name) => note(`publish ${id} as ${name}`, undefined),
      settleName: (name) => note(`settleName ${name}`, undefined),
    }),
    open: (name, range, blobBytes) =>
      note(
        `open ${name} ${range.start}-${range.end} of ${blobBytes}`,
        (async function* () {
          try {
            yield Uint8Array.of(1)
            yield Uint8Array.of(2)
          } finally {
            calls.push('closed')
          }
        })(),
      ),
    file: (name) => note(`file ${name}`, null),
    size: (name) => note(`size ${name}`, 2),
    delete: (name) => note(`delete ${name}`, true),
    list: async function* () {
      yield await note('list', { name, bytes: 1 })
      yield await note('list on', { name, bytes: 2 })
    },
    listStaged: async function* () {
      const lastWrittenMs = () => note('lastWrittenMs', 5)
      yield await note('listStaged', { place: 'a', digest: null, modifiedAtMs: 0, lastWrittenMs })
    },
    discardStaged: (id) => note(`discardStaged ${id}`, undefined),
    address: (name, { seconds }) => note(`address ${name} ${seconds}`, null),
    owner: () => note('owner', null),
    sign: (owner) => note(`sign ${owner}`, undefined),
    space: () => note('space', { freeBytes: 1, totalBytes: 2 }),
    probe: () => note('probe', undefined),
  }
}

/** A guarded store, with what reached the one behind it and the switch. */
const guarded = () => {
  const calls: string[] = []
  const transaction = { open: false }
  return { calls, transaction, store: guardBlobStore(noting(calls), () => transaction.open) }
}

const refusal = (call: string): RegExp =>
  new RegExp(`^Error: ${call} of the blob store .* database transaction \\(I5\\)`)

describe('guardBlobStore', () => {
  it('changes nothing outside a transaction', async () => {
    const { store, calls } = guarded()
    const staged = await store.stage('a', plan)
    await staged.write(new Uint8Array(3))
    await staged.publish(name)
    await staged.discard()
    const batch = store.batch()
    await batch.put('b', name, new Uint8Array(2))
    await batch.settle()
    const assembly = store.assembly(await store.beginAssembly('c', inParts), inParts)
    const part = await assembly.writePart(1, { readBack: false })
    await part.write(new Uint8Array(1))
    assert.equal(await part.finish(), 'receipt')
    await part.discard()
    assert.equal((await Array.fromAsync(await assembly.readPart({ index: 1, receipt: 'receipt' }))).length, 1)
    await assembly.publish(noParts())
    await assembly.settleName()
    assert.deepEqual(await Array.fromAsync(await store.open(name, whole, 2)), [Uint8Array.of(1), Uint8Array.of(2)])
    assert.equal(await store.size(name), 2)
    assert.equal(await store.delete(name), true)
    assert.equal((await Array.fromAsync(store.list())).length, 2)
    const remains = await Array.fromAsync(store.listStaged())
    assert.deepEqual(await Promise.all(remains.map(async ({ lastWrittenMs }) => await lastWrittenMs?.())), [5])
    await store.discardStaged('b')
    assert.equal(await store.owner(), null)
    await store.sign('me')
    assert.deepEqual(await store.space(), { freeBytes: 1, totalBytes: 2 })
    await store.probe()
    assert.deepEqual(calls, [
      ...['stage a', 'write 3', `publish ${name}`, 'discard', `put b as ${name} 2`, 'settle'],
      ...['beginAssembly c', 'writePart 1 of place of c', 'write 1', 'finish', 'discard', 'readPart 1 receipt'],
      ...['publish place of c', 'settleName of place of c', `open ${name} 0-2 of 2`, 'closed'],
      ...[
        `size ${name}`,
        `delete ${name}`,
        'list',
        'list on',
        'listStaged',
        'lastWrittenMs',
        'discardStaged b',
        'owner',
        'sign me',
        'space',
        'probe',
      ],
    ])
  })

  it('lets a growing blob through outside a transaction, and nothing of it inside', async () => {
    const { store, calls, transaction } = guarded()
    const growing = store.growing('g')
    const segment = { index: 0, bytes: 1, receipt: 'receipt' }
    const noSegments = async function* (): AsyncGenerator<typeof segment> {}
    const steps: Readonly<Record<keyof GrowingBlob, () => Promise<unknown>>> = {
      begin: () => growing.begin(),
      writeSegment: () => growing.writeSegment(0, {}),
      readSegment: () => growing.readSegment(segment),
      dropSegment: () => growing.dropSegment(segment),
      publish: () => growing.publish(name, 1, noSegments()),
      settleName: () => growing.settleName(name),
    }
    for (const step of Object.values(steps)) await step()
    const through = ['begin g', 'writeSegment 0 of g', 'readSegment 0 receipt', 'dropSegment 0 receipt']
    assert.deepEqual(calls, [...through, `publish g as ${name}`, `settleName ${name}`])
    transaction.open = true
    for (const [call, step] of Object.entries(steps)) await assert.rejects(step(), refusal(call))
    assert.equal(calls.length, 6)
  })

  type Call = Exclude<keyof BlobStore, 'readsParts' | 'assembly' | 'growing' | 'batch'>
  const calls: Readonly<Record<Call, (store: BlobStore) => Promise<unknown>>> = {
    beginAssembly: (store) => store.beginAssembly('a', inParts),
    stage: (store) => store.stage('a', plan),
    open: (store) => store.open(name, whole),
    size: (store) => store.size(name),
    address: (store) => store.address(name, { name: 'a', mediaType: 'text/plain', seconds: 60 }),
    file: (store) => store.file(name, 1),
    delete: (store) => store.delete(name),
    list: async (store) => store.list(),
    listStaged: async (store) => store.listStaged(),
    owner: (store) => store.owner(),
    sign: (store) => store.sign('me'),
    discardStaged: (store) => store.discardStaged('a'),
    space: (store) => store.space(),
    probe: (store) => store.probe(),
  }
  for (const [name, call] of Object.entries(calls)) {
    it(`refuses ${name} inside one, and lets nothing through`, async () => {
      const { store, calls, transaction } = guarded()
      transaction.open = true
      await assert.rejects(call(store), refusal(name))
      assert.deepEqual(calls, [])
    })
  }

  it('refuses to go on with what was begun outside', async () => {
    const { store, calls, transaction } = guarded()
    const staged = await store.stage('a', plan)
    const batch = store.batch()
    const assembly = store.assembly('c', inParts)
    const part = await assembly.writePart(0, { readBack: false })
    const pieces = await store.open(name, whole)
    const listing = store.list()[Symbol.asyncIterator]()
    const begun = store.list()[Symbol.asyncIterator]()
    await pieces.next()
    await begun.next()
    const [remains] = await Array.fromAsync(store.listStaged())
    const before = [...calls]
    transaction.open = true
    await assert.rejects(staged.write(new Uint8Array(1)), refusal('write'))
    await assert.rejects(staged.publish(name), refusal('publish'))
    await assert.rejects(staged.discard(), refusal('discard'))
    await assert.rejects(batch.put('b', name, new Uint8Array(2)), refusal('put'))
    await assert.rejects(batch.settle(), refusal('settle'))
    await assert.rejects(part.write(new Uint8Array(1)), refusal('write'))
    await assert.rejects(part.finish(), refusal('finish'))
    await assert.rejects(part.discard(), refusal('discard'))
    await assert.rejects(assembly.writePart(0, { readBack: false }), refusal('writePart'))
    await assert.rejects(assembly.readPart({ index: 0, receipt: '' }), refusal('readPart'))
    await assert.rejects(assembly.publish(noParts()), refusal('publish'))
    await assert.rejects(assembly.settleName(), refusal('settleName'))
    await assert.rejects(pieces.next(), refusal('reading'))
    await assert.rejects(listing.next(), refusal('list'))
    await assert.rejects(begun.next(), refusal('list'))
    await assert.rejects(async () => remains?.lastWrittenMs?.(), refusal('lastWrittenMs'))
    assert.deepEqual(calls, before)
  })

  it('still closes an open blob inside one', async () => {
    const { store, calls, transaction } = guarded()
    const pieces = await store.open(name, whole)
    await pieces.next()
    transaction.open = true
    assert.deepEqual(await pieces.return?.(), { done: true, value: undefined })
    assert.equal(calls.at(-1), 'closed')
  })
})
