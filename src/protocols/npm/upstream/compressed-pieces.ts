import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { npmCachedDocumentMaxBytes, npmCachedPieceCharacters } from '../../../kernel/limits/npm-upstream.ts'
import { MiB } from '../../../kernel/units.ts'
import { UpstreamTrouble } from './trouble.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** How much the pieces of one document take, all in all. */
export class PiecesBudget {
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** Throws once it is more than a document may take. */
  spend(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > npmCachedDocumentMaxBytes)
      throw new UpstreamTrouble(
        'too_large',
        `its document of the package is larger than ${npmCachedDocumentMaxBytes / MiB} MiB, compressed`,
      )
  }
}

/** Text that is compressed while it grows, so that only the last of it is held as it is. */
export class CompressedPieces {
  readonly #budget: PiecesBudget
  readonly #done: Uint8Array[] = []
  #texts: string[] = []
  #characters = 0

  constructor(budget: PiecesBudget) {
    this.#budget = budget
  }

  async add(text: string): Promise<void> {
    this.#texts.push(text)
    this.#characters += text.length
    if (this.#characters >= npmCachedPieceCharacters) await this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#characters === 0) return
    const bytes = await compress(this.#texts.join(''))
    this.#budget.spend(bytes.byteLength)
    this.#done.push(bytes)
    this.#texts = []
    this.#characters = 0
  }

  /** All of it. Pieces end where texts ended that were added. */
  async end(): Promise<readonly Uint8Array[]> {
    await this.#flush()
    return this.#done
  }
}

export const textOfPiece = async (bytes: Uint8Array): Promise<string> => (await decompress(bytes)).toString()
