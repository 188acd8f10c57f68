import type { Rolldown } from 'vite'

/** Bytes that are sent (compressed at best) in the time before anything can be seen, and for a page after that. */
interface Size {
  readonly what: string
  readonly bytes: number
  readonly most: number
}

const kib = 1024

type Output = Rolldown.RolldownOutput['output']
type Chunk = Extract<Output[number], { type: 'chunk' }>

/** A chunk and those that it needs before it runs. */
const withImports = (chunks: ReadonlyMap<string, Chunk>, first: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(first)) return seen
  seen.add(first)
  for (const next of chunks.get(first)?.imports ?? []) withImports(chunks, next, seen)
  return seen
}

export const sizesOf = (output: Output, sent: ReadonlyMap<string, number>): Size[] => {
  const chunks = new Map(output.filter((file) => file.type === 'chunk').map((file) => [file.fileName, file]))
  const entry = [...chunks.values()].find((chunk) => chunk.isEntry)
  if (entry === undefined) throw new Error('The console has no entry')
  const bytesOf = (names: Iterable<string>): number => [...names].reduce((sum, name) => sum + (sent.get(name) ?? 0), 0)
  const named = (ending: string): string[] =>
    output.map((file) => file.fileName).filter((name) => name.endsWith(ending))
  const first = withImports(chunks, entry.fileName)
  // The words of one language come with it.
  const words = Math.max(
    ...named('.js')
      .filter((name) => /\.words-/.test(name))
      .map((name) => sent.get(name) ?? 0),
    0,
  )
  const pages = [...chunks.values()].filter((chunk) => chunk.isDynamicEntry)
  const sharedToo = (page: Chunk): number =>
    bytesOf([...withImports(chunks, page.fileName)].filter((name) => !first.has(name)))
  const most = (sizeOf: (page: Chunk) => number): number => Math.max(...pages.map(sizeOf), 0)
  return [
    { what: 'first scripts', bytes: bytesOf(first) + words, most: 190 * kib },
    { what: 'styles', bytes: bytesOf(named('.css')), most: 20 * kib },
    { what: 'largest page', bytes: most((page) => sent.get(page.fileName) ?? 0), most: 30 * kib },
    { what: 'with what pages share', bytes: most(sharedToo), most: 45 * kib },
    {
      what: 'fonts of one script',
      bytes: bytesOf(named('.woff2').filter((name) => !/cyrillic/.test(name))),
      most: 90 * kib,
    },
  ]
}

/** What is larger than it may be, in words. */
export const overBudget = (sizes: readonly Size[]): string[] =>
  sizes
    .filter(({ bytes, most }) => bytes > most)
    .map(({ what, bytes, most }) => `${what} ${Math.ceil(bytes / kib)} KiB, at most ${most / kib}`)
