import { createHash } from 'node:crypto'
import { lookIntoTarball, type TarballLook, type Unpacked } from './tarball.ts'

/** What a tarball turned out to be. */
export interface TarballFound {
  /** Hexadecimal digits. */
  readonly sha1: string
  /** Base64. */
  readonly sha512: string
  readonly unpacked: Unpacked
}

/** Hashes a tarball and looks into it while it comes, and keeps nothing of it. */
export class TarballReading {
  readonly #look: TarballLook = lookIntoTarball()
  readonly #sha1 = createHash('sha1')
  readonly #sha512 = createHash('sha512')
  #found: TarballFound | null = null

  /** Resolves when the next piece may come. 400 once it is known to be no tarball of a package. */
  async take(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength === 0) return
    this.#sha1.update(bytes)
    this.#sha512.update(bytes)
    await this.#look.write(bytes)
  }

  /** That was all of it. 400 as above. */
  async end(): Promise<void> {
    const unpacked = await this.#look.end()
    this.#found = { sha1: this.#sha1.digest('hex'), sha512: this.#sha512.digest('base64'), unpacked }
  }

  /** Once all of it was read. */
  get found(): TarballFound {
    if (this.#found === null) throw new Error('a tarball was looked at before it was read to its end')
    return this.#found
  }

  /** Nobody waits for it any more. */
  drop(): void {
    this.#look.drop()
  }
}
