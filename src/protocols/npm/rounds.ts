import { setImmediate as nextRound } from 'node:timers/promises'
import { npmDocumentsReadAtOnce, npmParsedAtOnceBytes } from '../../kernel/limits/npm.ts'

/** Others have their turn while thousands of versions are parsed, or few large ones. */
export class Rounds {
  #parsed = 0
  #bytes = 0

  /** To be called before each of them is parsed. */
  async before(text: Uint8Array): Promise<void> {
    this.#parsed += 1
    this.#bytes += text.byteLength
    if (this.#parsed % npmDocumentsReadAtOnce !== 0 && this.#bytes <= npmParsedAtOnceBytes) return
    this.#bytes = 0
    await nextRound()
  }
}
