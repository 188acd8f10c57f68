import {
  type AppendedScope,
  endIdleAppended,
  type OpenAppended,
  openAppendedOnes,
} from '../../features/transfers/uploads/appended-session.ts'
import type { UploadScope } from '../../features/transfers/uploads/session.ts'
import type { TransferDeps } from '../../features/transfers/uploads/uploads.ts'
import { resumedUploadsOfObjectMax } from '../../kernel/limits/lfs.ts'

/** Uploads of objects that were cut, by which a client may go on (`resumed.ts`). */
export const unfinishedScope = ({ repository, owner }: UploadScope, oid: string): AppendedScope => ({
  repository,
  owner,
  name: `lfs:${oid}`,
})

/** Those of one object that are open of its sender. */
export const unfinishedOf = (deps: TransferDeps, scope: AppendedScope): Promise<readonly OpenAppended[]> =>
  openAppendedOnes(deps, scope, resumedUploadsOfObjectMax)

/** Ends those that nobody sends to: what was stored of them is given back at once, instead of after a day. */
export const endUnfinished = async (deps: TransferDeps, scope: AppendedScope): Promise<void> => {
  // One that has nothing was begun a moment ago, and is ended by who began it.
  for (const { id, stored, isIdle } of await unfinishedOf(deps, scope))
    if (isIdle && stored > 0) await endIdleAppended(deps, scope, id)
}

/** The same beside an object that is there by now, which is the news: those that are left end by themselves. */
export const endNeedless = (deps: TransferDeps, scope: UploadScope, oid: string): Promise<void> =>
  endUnfinished(deps, unfinishedScope(scope, oid)).catch((error: unknown) =>
    deps.report('uploads of an object that is there could not be ended; they end by themselves', error),
  )
