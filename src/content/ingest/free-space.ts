import type { Clock } from '../../kernel/clock.ts'
import { Failure } from '../../kernel/failure.ts'
import { freeSpaceBelievedMs } from '../../kernel/limits/transfers.ts'
import type { BlobStore } from '../../ports/blob-store.ts'

/** Keeps the disk from filling up: what cannot be written safely is refused before it begins, while reads go on. */
export interface FreeSpace {
  /** False while the device has less than the reserve left. One look is believed for a second. */
  writable(): Promise<boolean>
  /** What the device has left; null where a store knows no end. */
  freeBytes(): Promise<number | null>
  /** What may still be written before the reserve is reached; below zero beyond it, null where a store knows no end. */
  roomBytes(): Promise<number | null>
  /** Throws 507 `insufficient_space` when `bytes` more would eat into the reserve. */
  refuseUnlessRoomFor(bytes: number): Promise<void>
}

export const watchFreeSpace = (store: Pick<BlobStore, 'space'>, clock: Clock, reserveBytes: number): FreeSpace => {
  let seen: { atMs: number; freeBytes: number | null } | null = null
  const freeBytes = async (): Promise<number | null> => {
    const now = clock.now()
    if (seen === null || now - seen.atMs >= freeSpaceBelievedMs || now < seen.atMs)
      seen = { atMs: now, freeBytes: (await store.space())?.freeBytes ?? null }
    return seen.freeBytes
  }
  const roomFor = async (bytes: number): Promise<boolean> => {
    const free = await freeBytes()
    return free === null || free - bytes >= reserveBytes
  }
  return {
    freeBytes,
    writable: () => roomFor(0),
    async roomBytes() {
      const free = await freeBytes()
      return free === null ? null : free - reserveBytes
    },
    async refuseUnlessRoomFor(bytes) {
      if (await roomFor(bytes)) return
      throw new Failure(
        'insufficient_space',
        `The disk would keep less than its reserve of ${reserveBytes} bytes free. Stored files stay readable.`,
      )
    },
  }
}
