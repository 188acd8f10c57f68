import type { Readable } from 'node:stream'
import type { OutputOptions } from '../output.ts'

export interface ImportOptions extends OutputOptions {
  readonly objects?: string
}

/** An object as lists of them have it. */
export interface Wanted {
  readonly oid: string
  readonly size: number
}

/** Where objects come from. */
export interface Source {
  /** All that there are, or are asked for. */
  list(): AsyncIterable<Wanted>
  /** Has the bytes of some of them, of each what `take` is handed. What it has not it says in words. */
  open(objects: readonly Wanted[], take: (object: Wanted, bytes: Readable) => Promise<void>): Promise<Missing[]>
}

export interface Missing {
  readonly oid: string
  readonly why: string
}

const line = /^\s*([0-9a-f]{64})[\s,;]+(\d{1,15})\s*$/

/** Objects of a list, a line each; empty lines are passed over. Throws for a line that is none. */
export async function* readList(lines: AsyncIterable<string>): AsyncGenerator<Wanted> {
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    const [, oid, size] = line.exec(text) ?? []
    if (oid === undefined) throw new Error(`line ${number} of the list is not "<oid> <size>": ${text.slice(0, 200)}`)
    yield { oid, size: Number(size) }
  }
}

/** In groups of at most so many. */
export async function* grouped<T>(items: AsyncIterable<T>, most: number): AsyncGenerator<T[]> {
  let group: T[] = []
  for await (const item of items) {
    group.push(item)
    if (group.length < most) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
