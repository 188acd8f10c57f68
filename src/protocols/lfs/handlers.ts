import { type ServeDeps, serve } from '../../content/serve/serve.ts'
import { downloadAsked } from '../../contract/download.ts'
import { type BoundOperation, handle } from '../../contract/handler.ts'
import type { UploadDeps } from '../../features/transfers/uploads/uploads.ts'
import type { RepositoryAction } from '../../kernel/actions.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { Failure, invalid } from '../../kernel/failure.ts'
import { answerBatch, type BatchDeps } from './batch.ts'
import { bodyAs, told } from './json.ts'
import { objectAt, receiveObject, verifyObject } from './objects.ts'
import * as operations from './operations.ts'
import { appendToObject, offsetOf } from './resumed.ts'
import { BatchRequest, VerifyRequest } from './vocabulary.ts'

type LfsDeps = UploadDeps &
  ServeDeps &
  BatchDeps & {
    readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
  }

const progress = (offset: number, size: number) => ({
  'tus-resumable': '1.0.0',
  'upload-offset': String(offset),
  'upload-length': String(size),
  'cache-control': 'no-store',
})

export const lfsHandlers = (deps: LfsDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.askLfsBatch, async ({ path, body, caller, request }) => {
      const asked = bodyAs(BatchRequest, body)
      const { repository } = path
      refuseUnlessMay(asked.operation, repository, await deps.heldActions(caller, repository))
      if (caller.kind === 'link') throw new Failure('permission_missing', 'A download link opens one file.')
      return told(await answerBatch(deps, { repository, caller, baseUrl: request.baseUrl }, asked))
    }),
    handle(operations.getLfsObject, async ({ path, headers, caller, request }) => {
      const { sha256, size } = await objectAt(reader, path.repository, path.oid)
      const file = { digest: toSha256(sha256), bytes: size, name: sha256 }
      return serve(deps, file, downloadAsked({ headers, caller, request }))
    }),
    handle(operations.putLfsObject, async ({ path, query, body, caller }) => {
      const { declaredBytes, pieces } = body
      const scope = { repository: path.repository, owner: actorOf(caller) }
      await receiveObject(deps, scope, { oid: path.oid, size: query.size ?? null, declaredBytes, pieces })
      return told({})
    }),
    handle(operations.getLfsUpload, async ({ path, query, caller }) => {
      const scope = { repository: path.repository, owner: actorOf(caller) }
      const offset = await offsetOf(deps, scope, { oid: path.oid, size: query.size })
      return { status: 204, json: null, headers: progress(offset, query.size) }
    }),
    handle(operations.appendToLfsObject, async ({ path, query, headers, body, caller }) => {
      const scope = { repository: path.repository, owner: actorOf(caller) }
      const wanted = { oid: path.oid, size: query.size }
      const stored = await appendToObject(deps, scope, wanted, Number(headers['upload-offset']), body)
      return { status: 204, json: null, headers: progress(stored, query.size) }
    }),
    handle(operations.verifyLfsObject, async ({ path, body }) => {
      const { oid, size } = bodyAs(VerifyRequest, body)
      if (oid !== path.oid) throw invalid('/oid', 'must be the one of the address')
      await verifyObject(deps, path.repository, { oid, size })
      return told({})
    }),
  ]
}

/** In words that Git shows to people. */
const refuseUnlessMay = (
  operation: BatchRequest['operation'],
  repository: string,
  held: ReadonlySet<RepositoryAction>,
): void => {
  const needed = operation === 'download' ? operations.getLfsObject : operations.putLfsObject
  if (needed.access.actions.every((action) => held.has(action))) return
  const what = operation === 'download' ? 'pull from' : 'push to'
  const instead = operation === 'download' ? 'push to' : 'pull from'
  throw new Failure('permission_missing', `You may ${instead} the repository ${repository} and not ${what} it.`)
}
