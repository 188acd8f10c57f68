import type {
  Assembly,
  BlobBatch,
  BlobStore,
  GrowingBlob,
  StagedBlob,
  StagedPart,
  StagedRemains,
} from '../ports/blob-store.ts'

/**
 * The same store, for whoever must not wait for it inside a database transaction (I5): while `forbidden()` is true,
 * every call throws, as does asking an open blob or a listing for more. Only closing an open blob stays allowed, so
 * that a mistake does not also leak a file.
 */
export const guardBlobStore = (store: BlobStore, forbidden: () => boolean): BlobStore => {
  const allow = (call: string): void => {
    if (forbidden()) throw new Error(`${call} of the blob store was called inside a database transaction (I5)`)
  }
  return {
    readsParts: store.readsParts,
    stage: async (id, plan) => {
      allow('stage')
      return guardStaged(await store.stage(id, plan), allow)
    },
    batch: () => guardBatch(store.batch(), allow),
    beginAssembly: async (id, plan) => {
      allow('beginAssembly')
      return store.beginAssembly(id, plan)
    },
    assembly: (place, plan) => guardAssembly(store.assembly(place, plan), allow),
    growing: (id) => guardGrowing(store.growing(id), allow),
    open: async (name, range, blobBytes) => {
      allow('open')
      return guardPieces(await store.open(name, range, blobBytes), allow)
    },
    address: async (name, as) => {
      allow('address')
      return store.address(name, as)
    },
    file: async (name, blobBytes) => {
      allow('file')
      return store.file(name, blobBytes)
    },
    size: async (name) => {
      allow('size')
      return store.size(name)
    },
    delete: async (name) => {
      allow('delete')
      return store.delete(name)
    },
    list: () => {
      allow('list')
      return guardListing(store.list(), 'list', allow)
    },
    listStaged: () => {
      allow('listStaged')
      return guardRemains(guardListing(store.listStaged(), 'listStaged', allow), allow)
    },
    discardStaged: async (place) => {
      allow('discardStaged')
      return store.discardStaged(place)
    },
    owner: async () => {
      allow('owner')
      return store.owner()
    },
    sign: async (owner) => {
      allow('sign')
      return store.sign(owner)
    },
    space: async () => {
      allow('space')
      return store.space()
    },
    probe: async () => {
      allow('probe')
      return store.probe()
    },
  }
}

type Allow = (call: string) => void

const guardStaged = (staged: StagedBlob, allow: Allow): StagedBlob => ({
  write: async (piece) => {
    allow('write')
    return staged.write(piece)
  },
  publish: async (name) => {
    allow('publish')
    return staged.publish(name)
  },
  discard: async () => {
    allow('discard')
    return staged.discard()
  },
})

const guardBatch = (batch: BlobBatch, allow: Allow): BlobBatch => ({
  put: async (id, name, bytes) => {
    allow('put')
    return batch.put(id, name, bytes)
  },
  settle: async () => {
    allow('settle')
    return batch.settle()
  },
})

const guardAssembly = (assembly: Assembly, allow: Allow): Assembly => ({
  writePart: async (index, options) => {
    allow('writePart')
    return guardPart(await assembly.writePart(index, options), allow)
  },
  readPart: async (part) => {
    allow('readPart')
    return guardPieces(await assembly.readPart(part), allow)
  },
  publish: async (parts) => {
    allow('publish')
    return assembly.publish(parts)
  },
  settleName: async () => {
    allow('settleName')
    return assembly.settleName()
  },
})

const guardGrowing = (growing: GrowingBlob, allow: Allow): GrowingBlob => ({
  begin: async () => {
    allow('begin')
    return growing.begin()
  },
  writeSegment: async (index, options) => {
    allow('writeSegment')
    return guardPart(await growing.writeSegment(index, options), allow)
  },
  readSegment: async (segment) => {
    allow('readSegment')
    return guardPieces(await growing.readSegment(segment), allow)
  },
  dropSegment: async (segment) => {
    allow('dropSegment')
    return growing.dropSegment(segment)
  },
  publish: async (name, bytes, segments) => {
    allow('publish')
    return growing.publish(name, bytes, segments)
  },
  settleName: async (name) => {
    allow('settleName')
    return growing.settleName(name)
  },
})

const guardPart = (part: StagedPart, allow: Allow): StagedPart => ({
  write: async (piece) => {
    allow('write')
    return part.write(piece)
  },
  finish: async () => {
    allow('finish')
    return part.finish()
  },
  discard: async () => {
    allow('discard')
    return part.discard()
  },
})

const guardPieces = (pieces: AsyncIterableIterator<Uint8Array>, allow: Allow): AsyncIterableIterator<Uint8Array> => ({
  next: async () => {
    allow('reading')
    return pieces.next()
  },
  return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
  [Symbol.asyncIterator]() {
    return this
  },
})

async function* guardListing<T>(entries: AsyncIterable<T>, call: string, allow: Allow): AsyncGenerator<T> {
  allow(call)
  for await (const entry of entries) {
    yield entry
    allow(call)
  }
}

async function* guardRemains(all: AsyncIterable<StagedRemains>, allow: Allow): AsyncGenerator<StagedRemains> {
  for await (const remains of all) {
    const { lastWrittenMs } = remains
    const guarded = async (): Promise<number> => {
      allow('lastWrittenMs')
      return (await lastWrittenMs?.()) ?? remains.modifiedAtMs
    }
    yield lastWrittenMs === undefined ? remains : { ...remains, lastWrittenMs: guarded }
  }
}
