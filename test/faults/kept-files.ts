import { linkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from './uploads.ts'

interface Kept {
  readonly path: string
  readonly digest: string
  readonly modified: bigint
}

/** Long files that many folders hold in common, by links: whoever is given one may read, move and remove it. */
export class KeptFiles {
  readonly #folder: string
  readonly #kept = new Map<Buffer, Kept>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Gives a file of these bytes the name `place`; answers their digest. Throws if somebody has written into it. */
  link(bytes: Buffer, place: string): string {
    const kept = this.#of(bytes)
    if (modifiedAt(kept.path) !== kept.modified)
      throw new Error(`a finished file was written again, lastly as ${place}`)
    linkSync(kept.path, place)
    return kept.digest
  }

  #of(bytes: Buffer): Kept {
    const known = this.#kept.get(bytes)
    if (known !== undefined) return known
    const path = join(this.#folder, `kept-${process.pid}-${this.#kept.size}`)
    writeFileSync(path, bytes, { mode: 0o600 })
    const kept = { path, digest: sha256Of(bytes), modified: modifiedAt(path) }
    this.#kept.set(bytes, kept)
    return kept
  }
}

const modifiedAt = (path: string): bigint => statSync(path, { bigint: true }).mtimeNs
