import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { sweepBatch, sweptAfterMs } from '../../../kernel/limits/backups.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { type Chunk, storedChunk } from './chunks.ts'
import { filesOf } from './contents.ts'
import type { Room } from './data-files.ts'
import { dataPart, dataParts, isDataName, pointName, pointOf, pointsFolder } from './layout.ts'
import { chunksOf, readManifest } from './manifest.ts'
import { NameSet } from './name-set.ts'

/** The points whose manifests lie in a vault. */
export async function* pointsIn({ vault }: Pick<Room, 'vault'>): AsyncGenerator<string> {
  for await (const { name } of vault.list(pointsFolder)) {
    const id = pointOf(name)
    if (id !== null) yield id
  }
}

/** Takes the manifests of points out of a vault: they are no points any more, and nothing else has happened. */
export const forgetPoints = async ({ vault }: Room, ids: readonly string[]): Promise<void> => {
  await vault.remove(ids.map(pointName))
}

interface SweepDeps {
  readonly room: Room
  readonly nowMs: number
  readonly reach: ReachFaultPoint
  /** Throws where it is to stop. */
  readonly goOn: () => void
}

export interface Swept {
  readonly files: number
  readonly bytes: number
}

/**
 * Removes data that no point of the vault names, unless it is young. Throws, and removes nothing, where the manifest or
 * a list of a point cannot be read: what it names is not known then.
 *
 * Unchanged lists are read once.
 */
export const sweep = async ({ room, nowMs, reach, goOn }: SweepDeps): Promise<Swept> => {
  let [files, bytes] = [0, 0]
  let unwanted: VaultName[] = []
  const remove = async (): Promise<void> => {
    if (unwanted.length === 0) return
    await room.vault.remove(unwanted)
    reach('retention.swept')
    unwanted = []
  }
  const wanted = await namesOf(room, goOn)
  for (const part of dataParts) {
    goOn()
    for await (const found of room.vault.list(dataPart(part))) {
      if (!isDataName(found.name) || wanted.has(found.name) || found.modifiedAtMs > nowMs - sweptAfterMs) continue
      unwanted.push(found.name)
      files += 1
      bytes += found.bytes
      if (unwanted.length >= sweepBatch) await remove()
    }
  }
  await remove()
  return { files, bytes }
}

/** Names of everything that points name, as few bytes each. */
const namesOf = async (room: Room, goOn: () => void): Promise<NameSet> => {
  const names = new NameSet()
  const read = new Set<string>()
  for await (const id of pointsIn(room)) {
    const manifest = await readManifest(room.vault, id)
    for (const chunk of chunksOf(manifest)) names.add(storedChunk(chunk).name)
    const lists: readonly Chunk[] = manifest.encrypted ? manifest.files : manifest.contents
    for await (const { name } of filesOf(room, manifest, ({ file }) => read.has(file))) names.add(name)
    for (const { file } of lists) read.add(file)
    goOn()
  }
  return names
}
