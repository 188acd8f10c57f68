import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ConsoleFile, ConsoleFiles } from '../features/operating/console/console.ts'

/** Where the console lies when it is built: beside the built program, and in a checkout where that would be. */
const folders = ['../console/', '../../dist/console/'].map((path) => new URL(path, import.meta.url))

interface Listed {
  readonly mediaType: string
  readonly codings: readonly string[]
}

const endings: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz', identity: '' }

const listIn = (folder: URL): ReadonlyMap<string, Listed> => {
  const list: Record<string, Listed> = JSON.parse(readFileSync(new URL('files.json', folder), 'utf8'))
  return new Map(Object.entries(list))
}

interface Built {
  readonly time: number
  readonly list: ReadonlyMap<string, Listed>
  readonly files: Map<string, Promise<ConsoleFile>>
}

/**
 * The built console, or null. A look whether it is there is all that a start takes; the list is read with the first
 * request for it, and each file with the first for that one.
 */
export const openConsoleFiles = (): ConsoleFiles | null => {
  const folder = folders.find((each) => statSync(new URL('files.json', each), { throwIfNoEntry: false }) !== undefined)
  if (folder === undefined) return null
  const listed = new URL('files.json', folder)
  let built: Built | null = null
  /** What lies there now: whoever builds the console anew need not start the service again. */
  const latest = (): Built => {
    const time = statSync(listed, { throwIfNoEntry: false })?.mtimeMs
    if (built === null || (time !== undefined && time !== built.time))
      built = { time: time ?? 0, list: listIn(folder), files: new Map() }
    return built
  }
  const readFrom = async (path: string, { mediaType, codings }: Listed): Promise<ConsoleFile> => {
    const read = codings.map(
      async (coding) =>
        [coding, await readFile(fileURLToPath(new URL(path + (endings[coding] ?? ''), folder)))] as const,
    )
    return { mediaType, coded: Object.fromEntries(await Promise.all(read)) }
  }
  return {
    async read(path) {
      const { list, files } = latest()
      const file = list.get(path)
      if (file === undefined) return null
      const known = files.get(path)
      if (known !== undefined) return known
      const reading = readFrom(path, file)
      files.set(path, reading)
      reading.catch(() => files.delete(path))
      return reading
    },
  }
}
