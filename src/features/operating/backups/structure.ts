import { partFilesMax } from '../../../kernel/limits/backups.ts'
import { toVaultName, type VaultName } from '../../../ports/vault-name.ts'
import { storedChunk } from './chunks.ts'
import { filesOf } from './contents.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import { pointName } from './layout.ts'
import { lyingBelow } from './lying.ts'
import { type Manifest, readManifest } from './manifest.ts'

/**
 * Looks whether everything that points name is there with its length, and adds up to what their manifests count. What
 * several of them list alike is looked at once.
 */
export class Structure {
  readonly #room: Room
  readonly #goOn: () => void
  readonly #sizes: SizesByPart
  /** Chunks of lists of which every file is there. */
  readonly #whole = new Set<string>()

  /** `goOn` throws where whoever looks is to stop. */
  constructor(room: Room, goOn: () => void = () => {}) {
    this.#room = room
    this.#goOn = goOn
    this.#sizes = new SizesByPart(room, goOn)
  }

  /** Throws {@link BackupDamaged}. */
  async check(manifest: Manifest, told: (files: number) => void = () => {}): Promise<void> {
    let files = 0
    const isWhole = ({ file }: { readonly file: string }): boolean => this.#whole.has(file)
    for await (const { name, bytes } of filesOf(this.#room, manifest, isWhole)) {
      const there = await this.#sizes.of(name)
      if (there === null) throw new BackupDamaged('missing', name, '')
      if (there !== bytes) throw new BackupDamaged('damaged', name, `it has ${there} bytes instead of ${bytes}`)
      told(++files)
      this.#goOn()
    }
    for (const chunk of manifest.encrypted ? manifest.files : manifest.contents)
      this.#whole.add(storedChunk(chunk).name)
    const asManifest = (why: string): BackupDamaged => new BackupDamaged('damaged', pointName(manifest.id), why)
    for (const { name, rows, chunks } of manifest.tables)
      if (chunks.reduce((sum, { lines }) => sum + lines, 0) !== rows)
        throw asManifest(`it counts other rows of ${name} than it names`)
    const listed = manifest.contents.reduce((sum, { lines }) => sum + lines, 0)
    if (listed !== manifest.blobs.count) throw asManifest('it counts other files than its list has')
  }

  /** What is wrong with a point, in a word; null where nothing is. */
  async faultOf(id: string): Promise<BackupDamaged['code'] | null> {
    try {
      await this.check(await readManifest(this.#room.vault, id))
      return null
    } catch (error) {
      if (error instanceof BackupDamaged) return error.code
      throw error
    }
  }
}

/** Lengths of files, looked up by lists of whole parts where many of one part are asked for, one after another. */
class SizesByPart {
  readonly #room: Room
  readonly #goOn: () => void
  #part = ''
  #asked = 0
  #listed: ReadonlyMap<string, number> | null = null
  readonly #alone = new Map<string, number | null>()

  constructor(room: Room, goOn: () => void) {
    this.#room = room
    this.#goOn = goOn
  }

  async of(name: VaultName): Promise<number | null> {
    const part = name.slice(0, 'data/00'.length)
    if (part !== this.#part) {
      this.#part = part
      this.#asked = 0
      this.#listed = null
    }
    this.#listed ??= ++this.#asked > askedAloneMax ? await this.#list() : null
    if (this.#listed !== null) return this.#listed.get(name) ?? null
    const known = this.#alone.get(name)
    if (known !== undefined) return known
    const size = await this.#room.vault.size(name)
    // Packs and chunks come again; there are few of them.
    if (!name.includes('.blob')) this.#alone.set(name, size)
    return size
  }

  async #list(): Promise<ReadonlyMap<string, number>> {
    const listed = new Map<string, number>()
    const listing = { most: partFilesMax, goOn: this.#goOn }
    for await (const { name, bytes } of lyingBelow(this.#room.vault, toVaultName(this.#part), listing))
      listed.set(name, bytes)
    return listed
  }
}

const askedAloneMax = 16
