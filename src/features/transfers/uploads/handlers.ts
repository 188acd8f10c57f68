import { type BoundOperation, type ByteAnswer, handle } from '../../../contract/handler.ts'
import { jsonList } from '../../../contract/json-list.ts'
import { readJob } from '../../../jobs/enqueue.ts'
import { actorFrom } from '../../../journal/actor.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { notFound } from '../../../kernel/failure.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { type Order, startAfter } from '../../../kernel/order.ts'
import { cancelAnyUpload, listOpenUploads } from './administration.ts'
import * as completion from './completion.ts'
import * as operations from './operations.ts'
import { ownJobs, ownUploads } from './own.ts'
import { listParts, putPart } from './parts.ts'
import type { UploadScope } from './session.ts'
import { cancelUpload, createUpload, getUpload, type UploadDeps } from './uploads.ts'
import { jobRecordOf } from './views.ts'
import { putContent } from './whole-file.ts'

interface Asked {
  readonly path: { readonly repository: string }
  readonly caller: Caller
}

const scopeOf = ({ path, caller }: Asked): UploadScope => ({ repository: path.repository, owner: actorOf(caller) })

const askerOf = (asked: Asked): completion.Asker => ({
  ...scopeOf(asked),
  credentialId: asked.caller.kind === 'service-key' ? asked.caller.keyId : null,
})

export interface UploadHandlerDeps extends UploadDeps {
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

interface OwnAsked {
  readonly caller: Caller
  readonly query: { readonly after?: string; readonly order?: Order; readonly limit?: number }
}

const ownOf = ({ heldActions }: UploadHandlerDeps, { caller, query }: OwnAsked) => ({
  owner: actorOf(caller),
  held: (repository: string) => heldActions(caller, repository),
  start: startAfter(query.order, query.after),
  limit: query.limit ?? pageDefault,
})

export const uploadHandlers = (deps: UploadHandlerDeps): BoundOperation[] => [
  handle(operations.createUpload, async (input) => {
    const { upload, created } = await createUpload(deps, scopeOf(input), input.headers['idempotency-key'], input.body)
    const headers = { location: `/api/v1/repositories/${upload.repository}/uploads/${upload.id}` }
    return created ? { status: 201, headers, json: upload } : { status: 200, headers, json: upload }
  }),
  handle(operations.getUpload, async (input) => ({
    status: 200,
    json: await getUpload(deps, scopeOf(input), input.path.id),
  })),
  handle(operations.cancelUpload, async (input) => ({
    status: 200,
    json: await cancelUpload(deps, scopeOf(input), input.path.id),
  })),
  handle(operations.putUploadContent, async (input) => ({
    status: 200,
    json: await putContent(deps, scopeOf(input), input.path.id, input.body),
  })),
  handle(operations.listUploadParts, async (input): Promise<ByteAnswer> => {
    const { partBytes, items } = await listParts(deps, scopeOf(input), input.path.id)
    return jsonList({ partBytes }, items, input.request.head)
  }),
  handle(operations.putUploadPart, async (input) => {
    const digest = toSha256(input.headers['x-content-sha256'])
    await putPart(deps, scopeOf(input), input.path.id, Number(input.path.index), { ...input.body, digest })
    return { status: 204, json: null }
  }),
  handle(operations.completeUpload, async (input) => ({
    status: 200,
    json: await completion.completeUpload(deps, askerOf(input), input.path.id),
  })),
  handle(operations.completeUploadAsync, async (input) => {
    const job = await completion.requestCompletion(deps, askerOf(input), input.path.id)
    return { status: 202, headers: { location: `/api/v1/jobs/${job.id}` }, json: jobRecordOf(job) }
  }),
  handle(operations.listOpenUploads, async ({ query }) => ({
    status: 200,
    json: await listOpenUploads(deps, {
      start: startAfter(query.order, query.after),
      limit: query.limit ?? pageDefault,
    }),
  })),
  handle(operations.cancelAnyUpload, async (input) => {
    await cancelAnyUpload(deps, actorFrom(input), input.path.id)
    return { status: 204, json: null }
  }),
  handle(operations.listOwnUploads, async (input) => ({
    status: 200,
    json: await ownUploads(deps.database.reader, ownOf(deps, input)),
  })),
  handle(operations.listOwnJobs, async (input) => ({
    status: 200,
    json: await ownJobs(deps.database.reader, ownOf(deps, input)),
  })),
  handle(operations.getJob, async (input) => {
    const job = await readJob(deps.database.reader, input.path.id)
    if (job === undefined) throw notFound('job')
    return { status: 200, json: jobRecordOf(job) }
  }),
]
