import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { partFilesMax, sweepBatch, sweptAfterMs, unfinishedKeptMs } from '../../../kernel/limits/backups.ts'
import type { BackupVault } from '../../../ports/backup-vault.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { type Chunk, storedChunk } from './chunks.ts'
import { filesOf } from './contents.ts'
import type { Room } from './data-files.ts'
import { entriesOfIndexes } from './indexes.ts'
import { dataPart, dataParts, isDataName, pointName } from './layout.ts'
import { indexesIn, lyingBelow, pointsIn } from './lying.ts'
import { chunksOf, readManifest } from './manifest.ts'
import { NameSet } from './name-set.ts'

/**
 * Takes the manifests of points out of a vault: they are no points any more, and nothing else has happened. Answers
 * which are gone: write-once storage keeps the others until their time is over.
 */
export const forgetPoints = async ({ vault }: Pick<Room, 'vault'>, ids: readonly string[]): Promise<string[]> => {
  const kept = await removeAllowed(vault, ids.map(pointName))
  return ids.filter((id) => !kept.has(pointName(id)))
}

interface SweepDeps {
  readonly room: Room
  readonly nowMs: number
  readonly reach: ReachFaultPoint
  /** Throws where it is to stop. */
  readonly goOn: () => void
}

/**
 * Removes data that no point of the vault names, unless it is young, and answers how many files may not be removed yet.
 * What a capture copied that found no end stays for the next one. Throws, and removes nothing, where the manifest or a
 * list of a point cannot be read: what it names is not known then.
 *
 * Unchanged lists are read once.
 */
export const sweep = async ({ room, nowMs, reach, goOn }: SweepDeps): Promise<number> => {
  let kept = 0
  let unwanted: VaultName[] = []
  const remove = async (): Promise<void> => {
    if (unwanted.length === 0) return
    // Whoever is not the one any more removes nothing: another agent may be about to name it.
    goOn()
    kept += (await removeAllowed(room.vault, unwanted)).size
    reach('retention.swept')
    unwanted = []
  }
  const indexes = await indexesByAge(room, nowMs, goOn)
  const wanted = await namesOf(room, goOn)
  for await (const { stored } of entriesOfIndexes(room, indexes.young)) wanted.add(stored.name)
  for (const part of dataParts) {
    goOn()
    for await (const found of lyingBelow(room.vault, dataPart(part), { most: partFilesMax, goOn })) {
      if (!isDataName(found.name) || wanted.has(found.name) || found.modifiedAtMs > nowMs - sweptAfterMs) continue
      unwanted.push(found.name)
      if (unwanted.length >= sweepBatch) await remove()
    }
  }
  unwanted.push(...indexes.old)
  await remove()
  return kept
}

/** Indexes of captures that found no end: those from which the next one may go on, and those that waited in vain. */
const indexesByAge = async (
  room: Room,
  nowMs: number,
  goOn: () => void,
): Promise<{ young: VaultName[]; old: VaultName[] }> => {
  const [young, old]: [VaultName[], VaultName[]] = [[], []]
  for await (const { name, modifiedAtMs } of indexesIn(room, { goOn }))
    (modifiedAtMs > nowMs - unfinishedKeptMs ? young : old).push(name)
  return { young, old }
}

/** Removes what may be removed; answers what may not yet. */
export const removeAllowed = async (
  vault: BackupVault,
  names: readonly VaultName[],
): Promise<ReadonlySet<VaultName>> => {
  const kept = new Set<VaultName>()
  if (names.length === 0 || (await isAllowed(() => vault.remove(names)))) return kept
  for (const name of names) if (!(await isAllowed(() => vault.remove([name])))) kept.add(name)
  return kept
}

const isAllowed = async (removal: () => Promise<void>): Promise<boolean> => {
  try {
    await removal()
    return true
  } catch (error) {
    if (error instanceof VaultFailure && error.trouble === 'denied') return false
    throw error
  }
}

/** Names of everything that points name, as few bytes each. */
const namesOf = async (room: Room, goOn: () => void): Promise<NameSet> => {
  const names = new NameSet()
  const read = new Set<string>()
  for await (const { id } of pointsIn(room, goOn)) {
    const manifest = await readManifest(room.vault, id)
    for (const chunk of chunksOf(manifest)) names.add(storedChunk(chunk).name)
    const lists: readonly Chunk[] = manifest.encrypted ? manifest.files : manifest.contents
    for await (const { name } of filesOf(room, manifest, ({ file }) => read.has(file))) names.add(name)
    for (const { file } of lists) read.add(file)
    goOn()
  }
  return names
}
