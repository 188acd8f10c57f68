import { hash } from 'node:crypto'
import { deepShares } from '../../../kernel/limits/backups.ts'
import { toVaultName, type VaultName } from '../../../ports/vault-name.ts'
import { type Chunk, linesOf, storedChunk } from './chunks.ts'
import { filesOf } from './contents.ts'
import { BackupDamaged, checkOpened, type Room, type Stored } from './data-files.ts'
import { type Manifest, readManifest } from './manifest.ts'
import { NameSet } from './name-set.ts'

export interface Verified {
  /** The first fault of the point; null where it is whole. */
  readonly fault: BackupDamaged | null
  /** Every file that is not as it was written. */
  readonly damaged: readonly VaultName[]
  readonly files: number
  readonly bytes: number
}

interface VerifyDeps {
  readonly room: Room
  readonly pace: (bytes: number) => Promise<void>
  readonly goOn: () => void
  readonly told: (done: { readonly bytes: number; readonly blobs: number }) => void
}

/** What was read so far. Whoever was stopped between two files begins anew with it, and goes on behind it. */
export class ReadSoFar {
  readonly seen = new NameSet()
  readonly faults = new Map<VaultName, BackupDamaged>()
  bytes = 0
  files = 0
}

/**
 * Reads every byte that a point names, as it lies there, which takes no key; with one, down to the plain bytes. Goes on
 * behind what is damaged.
 */
export const verifyDeep = async (deps: VerifyDeps, id: string, soFar = new ReadSoFar()): Promise<Verified> => {
  const found = new Reading(deps, soFar)
  await found.point(id, () => true)
  return found.verified
}

/**
 * Reads the share of a day of everything that these points name; each file once. A file's share is in its name, so that
 * nobody has to remember what was read before.
 */
export const verifyShare = async (
  deps: VerifyDeps,
  ids: readonly string[],
  share: number,
  soFar = new ReadSoFar(),
): Promise<Verified & { readonly faulty: ReadonlyMap<string, BackupDamaged> }> => {
  const found = new Reading(deps, soFar)
  const faulty = new Map<string, BackupDamaged>()
  for (const id of ids) {
    const fault = await found.point(id, (name) => shareOf(name) === share)
    if (fault !== null) faulty.set(id, fault)
  }
  // What two points say of one file differently is not right for both: those that were read first hear of it, too.
  if (found.verified.damaged.length > 0)
    for (const id of ids) {
      const fault = await found.point(id, () => false)
      if (fault !== null) faulty.set(id, fault)
    }
  return { ...found.verified, faulty }
}

const shareOf = (name: VaultName): number =>
  Number.parseInt(name.slice('data/00/'.length, 'data/00/'.length + 6), 16) % deepShares

class Reading {
  readonly #deps: VerifyDeps
  readonly #soFar: ReadSoFar
  #fault: BackupDamaged | null = null

  constructor(deps: VerifyDeps, soFar: ReadSoFar) {
    this.#deps = deps
    this.#soFar = soFar
  }

  get verified(): Verified {
    const { faults, files, bytes } = this.#soFar
    const damaged = [...faults.values()].filter(({ code }) => code === 'damaged').map(({ file }) => file)
    return { fault: this.#fault, damaged, files, bytes }
  }

  /** The first fault of a point among what is wanted of it. Its lists are read in any case. */
  async point(id: string, wanted: (name: VaultName) => boolean): Promise<BackupDamaged | null> {
    let first: BackupDamaged | null = null
    const note = (fault: BackupDamaged): void => {
      first ??= fault
      this.#fault ??= fault
      this.#soFar.faults.set(fault.file, fault)
    }
    await noted(note, async () => {
      const manifest = await readManifest(this.#deps.room.vault, id)
      const unreadable = await this.#unreadable(manifest, note)
      for await (const stored of filesOf(this.#deps.room, manifest, ({ file }) => unreadable.has(file))) {
        this.#deps.goOn()
        const known = this.#soFar.faults.get(stored.name)
        if (known !== undefined) note(known)
        if (!wanted(stored.name) || this.#isSeen(stored)) continue
        await noted(note, () => checkOpened(this.#deps.room, stored, (bytes) => this.#took(bytes)))
        this.#soFar.files += 1
        this.#deps.told({ bytes: this.#soFar.bytes, blobs: this.#soFar.files })
      }
    })
    return first
  }

  /** Whether a file was read as what this list says of it; from now on it was. Another list may say something else. */
  #isSeen({ name, bytes, sha256 }: Stored): boolean {
    const as = toVaultName(`data/00/${hash('sha256', `${name} ${bytes} ${sha256}`)}`)
    if (this.#soFar.seen.has(as)) return true
    this.#soFar.seen.add(as)
    return false
  }

  /** Lists that cannot be read: what they name is not looked at. */
  async #unreadable(manifest: Manifest, note: (fault: BackupDamaged) => void): Promise<ReadonlySet<string>> {
    const lists: readonly Chunk[] = manifest.encrypted ? manifest.files : manifest.contents
    const found = new Set<string>()
    for (const list of lists)
      await noted(
        (fault) => {
          note(fault)
          found.add(storedChunk(list).name)
        },
        async () => {
          await linesOf(this.#deps.room, list)
        },
      )
    return found
  }

  async #took(bytes: number): Promise<void> {
    this.#soFar.bytes += bytes
    await this.#deps.pace(bytes)
  }
}

const noted = async (note: (fault: BackupDamaged) => void, work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof BackupDamaged)) throw error
    note(error)
  }
}
