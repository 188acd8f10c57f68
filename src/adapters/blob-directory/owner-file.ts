import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { errorCode } from '../files/errors.ts'
import { close, create, fsync, fsyncDirectory, rename, writeFully } from './files.ts'
import type { Layout } from './layout.ts'

/** What the store belongs to, or null. A missing root is no store without an owner. */
export const readOwner = async ({ root, owner }: Layout): Promise<string | null> => {
  try {
    return (await readFile(owner, 'utf8')).trim()
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
    await stat(root)
    return null
  }
}

/** Whole or not at all, and durable when it resolves. */
export const writeOwner = async (layout: Layout, owner: string): Promise<void> => {
  const staged = layout.staged(randomUUID())
  const descriptor = await create(staged)
  try {
    await writeFully(descriptor, [Buffer.from(`${owner}\n`)], 0)
    await fsync(descriptor)
  } finally {
    await close(descriptor)
  }
  await rename(staged, layout.owner)
  await fsyncDirectory(layout.root)
}
