import { receiveSyncEveryBytes } from '../../kernel/limits/transfers.ts'
import type { BlobName } from '../../ports/blob-name.ts'
import type { StagedBlob, StagingPlan } from '../../ports/blob-store.ts'
import { errorCode } from '../files/errors.ts'
import type { DirectorySyncs } from './directory-syncs.ts'
import { guarded } from './failures.ts'
import { close, closeLater, create, rename, unlink } from './files.ts'
import { GatheredWriter } from './gathered-writer.ts'
import type { Layout } from './layout.ts'

/*
 * Promise: a blob that has its final name is complete and durable when `publish` resolves (I3).
 * Order: write everything -> fdatasync the file -> close -> rename into its shard -> fsync the shard.
 * A crash before the rename leaves `<staging>/<id>`, which `listStaged` shows. A crash after it leaves a complete blob
 * that no row refers to, which `list` shows; its bytes were durable before it got the name.
 * A failed sync fails the publish for good: the system may have thrown the bytes away, so trying again proves nothing.
 */

export interface Publishing {
  readonly layout: Layout
  readonly directories: DirectorySyncs
}

export const stageFile = async (publishing: Publishing, id: string, plan: StagingPlan): Promise<StagedBlob> => {
  const path = publishing.layout.staged(id)
  return new StagedFile(publishing, path, await create(path), plan.bytes)
}

class StagedFile implements StagedBlob {
  readonly #publishing: Publishing
  readonly #path: string
  readonly #writer: GatheredWriter
  #descriptor: number | undefined
  #state: 'writing' | 'ended' | 'published' = 'writing'

  constructor(publishing: Publishing, path: string, descriptor: number, bytes: number | null) {
    this.#publishing = publishing
    this.#path = path
    this.#descriptor = descriptor
    this.#writer = new GatheredWriter(descriptor, { from: 0, to: bytes, syncEveryBytes: receiveSyncEveryBytes })
  }

  write(piece: Uint8Array): Promise<void> {
    return guarded(() => {
      this.#mustBeWriting()
      return this.#writer.write(piece)
    })
  }

  publish(name: BlobName): Promise<void> {
    return guarded(async () => {
      this.#mustBeWriting()
      this.#state = 'ended'
      const { layout, directories } = this.#publishing
      await this.#writer.finish()
      await this.#close()
      await rename(this.#path, layout.blob(name))
      await directories.sync(layout.shard(name))
      this.#state = 'published'
    })
  }

  discard(): Promise<void> {
    return guarded(async () => {
      if (this.#state === 'published') return
      this.#state = 'ended'
      this.#writer.drop()
      await this.#writer.settled()
      if (this.#descriptor !== undefined) closeLater(this.#descriptor)
      this.#descriptor = undefined
      await unlinkIfThere(this.#path)
    })
  }

  async #close(): Promise<void> {
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    if (descriptor !== undefined) await close(descriptor)
  }

  #mustBeWriting(): void {
    if (this.#state !== 'writing') throw new Error('this staged blob is published or given back')
  }
}

/** True if there was such a file. */
export const unlinkIfThere = async (path: string): Promise<boolean> => {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}
