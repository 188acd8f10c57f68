import fs from 'node:fs'
import { isBlobName } from '../../ports/blob-name.ts'
import type { StagedRemains, StoredBlob } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import { guarded } from './failures.ts'
import { type Layout, shardNames } from './layout.ts'

/** Names read from a directory at a time, and files looked at together: some kilobytes, and the pool stays shared. */
const batch = 64

/** Files of a directory with their state, a batch at a time. Files that vanish meanwhile are left out. */
async function* filesIn(path: string, wanted: (name: string) => boolean) {
  const directory = await guarded(() => fs.promises.opendir(path, { bufferSize: batch }))
  const look = async (name: string): Promise<{ name: string; stats: fs.Stats } | undefined> => {
    try {
      return { name, stats: await fs.promises.lstat(`${path}/${name}`) }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw error
    }
  }
  let names: string[] = []
  for await (const { name } of directory) {
    if (wanted(name)) names.push(name)
    if (names.length < batch) continue
    yield* await guarded(() => Promise.all(names.map(look)))
    names = []
  }
  yield* await guarded(() => Promise.all(names.map(look)))
}

export async function* storedBlobs(layout: Layout): AsyncGenerator<StoredBlob> {
  for (const shard of shardNames) {
    for await (const file of filesIn(`${layout.root}/${shard}`, (name) => isBlobName(name) && name.startsWith(shard))) {
      if (file?.stats.isFile() && isBlobName(file.name)) yield { name: file.name, bytes: file.stats.size }
    }
  }
}

export async function* stagedRemains(layout: Layout): AsyncGenerator<StagedRemains> {
  for await (const file of filesIn(layout.staging, (name) => layout.idOf(name) !== null)) {
    const place = file?.stats.isFile() === true ? layout.idOf(file.name) : null
    if (place !== null && file !== undefined) yield { place, digest: null, modifiedAtMs: file.stats.mtimeMs }
  }
}
