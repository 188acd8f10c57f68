import { createReadStream } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Source, Wanted } from './objects.ts'

/** A folder of objects, however deep they lie in it. Each file is called by its oid, as clients and servers do. */
export const folderSource = (folder: string, wanted: AsyncIterable<Wanted> | null): Source => {
  const paths = new Map<string, string>()
  return {
    async *list() {
      for await (const path of filesIn(folder)) {
        const oid = path.slice(-64)
        if (!/^[0-9a-f]{64}$/.test(oid) || paths.has(oid)) continue
        paths.set(oid, path)
        if (wanted === null) yield { oid, size: (await stat(path)).size }
      }
      if (wanted !== null) yield* wanted
    },
    ready: async () => async (object, take) => {
      const path = paths.get(object.oid)
      return path === undefined ? `no file below ${folder} is called so` : take(createReadStream(path))
    },
    async close() {},
  }
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else if (entry.isFile()) yield path
  }
}
