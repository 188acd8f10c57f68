import fs from 'node:fs'
import { errorCode } from '../files/errors.ts'
import { stateOf } from './files.ts'
import type { Layout } from './layout.ts'
import { unlinkIfThere } from './staged-file.ts'

/*
 * The file of an assembly is the one with the highest number: `<id>` is the first, and whoever takes over gives a copy
 * of the highest the next number. A number is made by link(2), which never takes a name that is there, and goes only
 * when a higher one is there for good, the lowest first. So whatever a process asks of the system and gets late does no
 * harm:
 *
 * - A link finds its number taken, or, where that one is superseded and gone, makes a name that is not the highest.
 * - A removal takes a name that was superseded when it was asked for.
 * - One that lands after the assembly was published or discarded leaves a file that is listed under its id and swept
 *   with it. Nobody reads it: see `assembledFile`.
 */

export interface NumberedFile {
  readonly path: string
  readonly number: number
  readonly inode: number
}

/** Looks again where the highest is superseded between two calls. */
const looks = 4

/** The file of an assembly. Fails with ENOENT where it is gone. Two short calls, unless somebody ever took over. */
export const newestFile = async (layout: Layout, id: string): Promise<NumberedFile> => {
  // In this order: where the first is there it is there longer than the second, so that it was the highest just now.
  if ((await stateOf(layout.numbered(id, 2))) === null) {
    const first = await numberedFile(layout, id, 1)
    if (first !== null) return first
  }
  for (let look = 0; look < looks; look++) {
    const highest = (await numbersOf(layout, id)).at(-1)
    const file = highest === undefined ? null : await numberedFile(layout, id, highest)
    if (file !== null) return file
  }
  throw Object.assign(new Error(`the staged file ${layout.staged(id)} is gone`), { code: 'ENOENT' })
}

const numberedFile = async (layout: Layout, id: string, number: number): Promise<NumberedFile | null> => {
  const path = layout.numbered(id, number)
  const stats = await stateOf(path)
  return stats === null ? null : { path, number, inode: stats.ino }
}

/** Runs with the file of an assembly, and again with the next one where somebody takes over before it is opened. */
export const withNewestFile = async <T>(
  layout: Layout,
  id: string,
  run: (file: NumberedFile) => Promise<T>,
): Promise<T> => {
  for (;;) {
    const file = await newestFile(layout, id)
    try {
      return await run(file)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT' || (await newestFile(layout, id)).number === file.number) throw error
    }
  }
}

/** Removes all numbers up to this one. Before, what supersedes them has to be durable. */
export const removeNumbers = async (layout: Layout, id: string, upTo: number): Promise<void> => {
  if (upTo === 1) await unlinkIfThere(layout.staged(id))
  else
    for (const number of await numbersOf(layout, id))
      if (number <= upTo) await unlinkIfThere(layout.numbered(id, number))
}

/** The lowest first. */
const numbersOf = async (layout: Layout, id: string): Promise<number[]> => {
  const numbers: number[] = []
  for await (const name of namesOf(layout, id)) {
    const number = layout.numberOf(name)
    if (number !== null) numbers.push(number)
  }
  return numbers.sort((a, b) => a - b)
}

/** Everything in staging that belongs to an id. */
export async function* namesOf(layout: Layout, id: string): AsyncGenerator<string> {
  for await (const { name } of await fs.promises.opendir(layout.staging)) if (layout.idOf(name) === id) yield name
}
