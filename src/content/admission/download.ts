import type { DownloadClass } from '../../kernel/download-class.ts'

/** A body to send. */
export interface Download {
  /** Whose share it takes. */
  readonly caller: string
  readonly downloadClass: DownloadClass
  readonly bytes: number
  /** True when it reaches the end of the content: usually nothing follows. */
  readonly last: boolean
  /** Names the content: ranges of other content are another download. */
  readonly content: string
  /** The client's name for it. */
  readonly id: string | undefined
  readonly ticket: string | undefined
  /** Calls when the client has gone away. */
  readonly onGone: (listener: () => void) => void
}

/** Leave to send. Must be ended once, whatever happens; ending again is harmless. */
export interface Turn {
  sent(bytes: number): void
  end(): void
}
