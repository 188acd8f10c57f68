import type { DownloadClass } from '../../kernel/download-class.ts'
import type { Scope } from '../../kernel/scope.ts'

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
  /** A range without an id of a client that fetches several at once: they take one turn together. */
  readonly sideBySide: boolean
  /** Whoever sent it does not come again by themselves: where its download has no turn yet, it is held until then. */
  readonly comesOnce?: boolean
  /** Of the request: its place in the line and its turn end with it. */
  readonly scope: Scope
  /** Ends its connection. */
  readonly hangUp: () => void
}

/** Leave to send. Ends with the scope of its download, or sooner; ending again is harmless. */
export interface Slot {
  sent(bytes: number): void
  end(): void
}
