import { setTimeout as pause } from 'node:timers/promises'
import { toSha256 } from '../../kernel/digest.ts'
import { checkPage, inlineBatch, inlineLookMs, inlineMovesPerSecond } from '../../kernel/limits/upkeep.ts'
import { upkeepRun } from '../../kernel/one-by-one.ts'
import { type InlineSums, noteInlineSums } from './inline-sums.queries.ts'
import { type Damaged, type KeptBlob, type MovingDeps, moveIn, moveOut } from './moving.ts'
import { type BlobRow, blobsAfter } from './settling.queries.ts'

/** From the store into the database, or back. */
export type Way = 'in' | 'out'

interface SettleWish {
  /** Files up to here belong into the database; none where it is 0. */
  readonly inlineBytes: number
  readonly ways: readonly Way[]
  readonly filesPerSecond: number
}

/** What became of a page of blobs. */
interface Settled {
  readonly moved: InlineSums
  readonly damaged: readonly Damaged[]
  /** Those of the page that are in the database now. */
  readonly inline: InlineSums
}

/**
 * Goes through all blobs once, in the order of digests, and moves those that are elsewhere than they belong. Tells what
 * came of each page. What cannot be moved now is passed over: the next look finds it again.
 */
export async function* settle(deps: MovingDeps, wish: SettleWish, stopping: () => boolean): AsyncGenerator<Settled> {
  for (let after = ''; !stopping(); ) {
    const page = await blobsAfter(deps.database.reader, after, checkPage)
    const stored = page.filter(({ state }) => state === 'stored')
    yield await settlePage(deps, wish, stored, stopping)
    const last = page.at(-1)
    if (last === undefined || page.length < checkPage) return
    after = last.sha256
  }
}

const settlePage = async (
  deps: MovingDeps,
  { inlineBytes, ways, filesPerSecond }: SettleWish,
  stored: readonly BlobRow[],
  stopping: () => boolean,
): Promise<Settled> => {
  const damaged: Damaged[] = []
  const moved = { in: none, out: none }
  for (const way of ways) {
    const elsewhere = stored.filter(({ size, inline }) => {
      const belongsIn = inlineBytes > 0 && size <= inlineBytes
      return belongsIn === (way === 'in') && belongsIn !== (inline === 1)
    })
    for (let at = 0; at < elsewhere.length && !stopping(); at += inlineBatch) {
      const batch = elsewhere.slice(at, at + inlineBatch).map(keptBlob)
      const beganAt = performance.now()
      const moves = await (way === 'in' ? moveIn : moveOut)(deps, batch)
      moved[way] = plus(moved[way], sumOf(moves.moved))
      damaged.push(...moves.damaged)
      const aheadMs = (batch.length / filesPerSecond) * 1000 - (performance.now() - beganAt)
      if (aheadMs > 1) await pause(aheadMs)
    }
  }
  const inline = sumOf(stored.filter((blob) => blob.inline === 1))
  return {
    damaged,
    moved: plus(moved.in, moved.out),
    inline: plus(inline, { files: moved.in.files - moved.out.files, bytes: moved.in.bytes - moved.out.bytes }),
  }
}

const none: InlineSums = { files: 0, bytes: 0 }

const plus = (a: InlineSums, b: InlineSums): InlineSums => ({ files: a.files + b.files, bytes: a.bytes + b.bytes })

const sumOf = (blobs: readonly { readonly size: number }[]): InlineSums => ({
  files: blobs.length,
  bytes: blobs.reduce((sum, { size }) => sum + size, 0),
})

const keptBlob = ({ sha256, generation, size }: BlobRow): KeptBlob => ({ digest: toSha256(sha256), generation, size })

/** Keeps small files where the setting says, and counts those that are in the database. To be run by the clock. */
export const settleSmallFiles = async (
  deps: MovingDeps & { readonly inlineBytes: number },
  stopping: () => boolean = () => false,
): Promise<void> => {
  const run = upkeepRun(deps.report)
  const wish = { inlineBytes: deps.inlineBytes, ways: ['in', 'out'], filesPerSecond: inlineMovesPerSecond } as const
  const endsAt = performance.now() + inlineLookMs
  const ending = (): boolean => stopping() || performance.now() > endsAt
  let sums = none
  for await (const { damaged, inline } of settle(deps, wish, ending)) {
    sums = plus(sums, inline)
    for (const { digest, finding } of damaged)
      await run.attempt(`moving the small file ${digest}`, () => Promise.reject(new Error(finding)))
  }
  if (!ending()) await noteInlineSums(deps.database, sums)
  run.end()
}
