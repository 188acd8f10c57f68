import assert from 'node:assert/strict'
import type { Promised } from './mixed-load.ts'
import { type Chance, type KnownBlobs, ModelledDisk } from './modelled-disk.ts'
import type { Change } from './recorder.ts'

/** Where a record was made, and where cuts of it are kept. */
export interface Recorded {
  readonly root: string
  readonly inode: bigint
  readonly scratch: string
}

/** Whether a change, the one at this place of the record, does not reach the disk. */
export type Ignoring = (change: Change, at: number) => boolean

/** A record, played on a modelled disk up to a moment. */
export class Replay {
  /** What was promised by then: of each place, the last word. */
  readonly promises = new Map<string, Promised>()
  readonly #changes: readonly Change[]
  readonly #disk: ModelledDisk
  readonly #ignored: Ignoring
  #played = 0

  constructor(changes: readonly Change[], { root, inode, scratch }: Recorded, ignored: Ignoring = () => false) {
    this.#changes = changes
    this.#disk = new ModelledDisk(root, inode, scratch)
    this.#ignored = ignored
  }

  /** Plays on until after the change `moment`. */
  to(moment: number): void {
    for (; this.#played <= moment; this.#played++) {
      const change = this.#changes[this.#played]
      if (change === undefined) return
      if (!this.#ignored(change, this.#played)) this.#disk.play(change)
      if (change.kind !== 'mark') continue
      const promised: Promised = JSON.parse(change.text)
      this.promises.set(promised.place, promised)
    }
  }

  /** Makes a folder of what a power cut may leave now. */
  cut(chance: Chance, into: string): KnownBlobs {
    return this.#disk.cut(chance, into)
  }
}

/** Where syncs fail, and where the next answer is given after that. */
export const failuresIn = (changes: readonly Change[]): { failed: number; next: number }[] => {
  const failures = [...changes.entries()].filter(([, change]) => change.kind === 'synced' && change.failed)
  return failures.map(([failed]) => {
    const next = changes.findIndex((change, at) => at > failed && change.kind === 'mark')
    assert.ok(next > failed, 'the load goes on after a failed sync')
    return { failed, next }
  })
}

/**
 * Moments all over a record, in order: a quarter of them where a sync ends or begins, one between a sync that failed
 * and the next answer, where the next process takes over what the system's memory shows and the disk may not have, and
 * one where that process and its followers write.
 */
export const momentsIn = (changes: readonly Change[], rounds: number, random: () => number): number[] => {
  const syncs = [...changes.keys()].filter((at) => ['syncing', 'synced'].includes(changes[at]?.kind ?? ''))
  const between = (from: number, to: number): number => from + Math.floor(random() * (to - from))
  const failures = failuresIn(changes)
  const failure = () => failures[between(0, failures.length)] ?? { failed: 0, next: 0 }
  const afterFailure = (): number => {
    const { failed, next } = failure()
    return between(failed, next)
  }
  const places = [
    () => syncs[between(0, syncs.length)] ?? 0,
    afterFailure,
    () => between(failure().next, changes.length),
    () => between(0, changes.length),
  ]
  return Array.from({ length: rounds }, (_, round) => places[round % places.length]?.() ?? 0).sort((a, b) => a - b)
}
