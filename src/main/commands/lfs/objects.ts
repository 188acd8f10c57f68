import type { Readable } from 'node:stream'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { importBatchBytesMax, importBatchMax } from '../../../kernel/limits/lfs.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import type { OutputOptions } from '../output.ts'

export interface ImportOptions extends OutputOptions {
  readonly objects?: string
  readonly user?: string
  readonly passwordFile?: string
  readonly allowPrivate?: string
  readonly plainHttp?: boolean
  readonly caFile?: string
}

/** An object as lists of them have it. */
export interface Wanted {
  readonly oid: string
  readonly size: number
}

/** What is done with the bytes of an object: null when it is done, or why it cannot be, in words. */
export type Take = (bytes: Readable) => Promise<string | null>

/** Where objects come from. */
export interface Source {
  /** All that there are, or are asked for. */
  list(): AsyncIterable<Wanted>
  /** Gets ready for some of them: how `take` is handed the bytes of each, or in words why not. */
  ready(objects: readonly Wanted[]): Promise<(object: Wanted, take: Take) => Promise<string | null>>
  close(): Promise<void>
}

const line = /^\s*([0-9a-f]{64})[\s,;]+(\d{1,15})\s*$/

/** What `git lfs ls-files --json` prints, as far as it is read here. */
const Listed = Type.Object({
  files: Type.Array(
    Type.Object({ oid: Type.String({ pattern: '^[0-9a-f]{64}$' }), size: Type.Integer({ minimum: 0 }) }),
  ),
})

/**
 * Objects of a list: of `git lfs ls-files --json`, or a line each; empty lines are passed over. Throws for a line that
 * is none. It is opened when it is read: lines that come before anybody reads are lost.
 */
export async function* readList(open: () => AsyncIterable<string>): AsyncGenerator<Wanted> {
  let number = 0
  let json: string | null = null
  for await (const text of open()) {
    number += 1
    if (json === null && text.trim() === '') continue
    if (json !== null || text.startsWith('{')) {
      json = `${json ?? ''}${text}\n`
      continue
    }
    const [, oid, size] = line.exec(text) ?? []
    if (oid === undefined) throw new CommandFailed('failed', `line ${number} of the list is not "<oid> <size>".`)
    yield { oid, size: Number(size) }
  }
  if (json !== null) yield* listedIn(json)
}

/** The same object lies at many paths. */
const listedIn = (json: string): Iterable<Wanted> => {
  const told = parsed(json)
  if (!Value.Check(Listed, told))
    throw new CommandFailed('failed', 'the list is JSON, and not what `git lfs ls-files --json` prints')
  return new Map(told.files.map(({ oid, size }) => [oid, { oid, size }])).values()
}

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

/** In groups that are asked about at once; what stands in one twice is in it once. */
export async function* grouped(items: AsyncIterable<Wanted>): AsyncGenerator<Wanted[]> {
  const group = new Map<string, Wanted>()
  let bytes = 0
  for await (const item of items) {
    group.set(item.oid, item)
    bytes += item.size
    if (group.size < importBatchMax && bytes < importBatchBytesMax) continue
    yield [...group.values()]
    group.clear()
    bytes = 0
  }
  if (group.size > 0) yield [...group.values()]
}
