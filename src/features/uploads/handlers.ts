import { type BoundOperation, handle } from '../../contract/handler.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import { cancelUpload, createUpload, getUpload, putUploadContent } from './operations.ts'
import {
  cancelUpload as cancel,
  createUpload as create,
  putContent,
  getUpload as read,
  type UploadParts,
  type UploadScope,
} from './uploads.ts'

const scopeOf = ({ path, caller }: { path: { repository: string }; caller: Caller }): UploadScope => ({
  repository: path.repository,
  owner: actorOf(caller),
})

export const uploadHandlers = (parts: UploadParts): BoundOperation[] => [
  handle(createUpload, async (input) => {
    const { upload, created } = await create(parts, scopeOf(input), input.headers['idempotency-key'], input.body)
    const headers = { location: `/api/v1/repositories/${upload.repository}/uploads/${upload.id}` }
    return created ? { status: 201, headers, json: upload } : { status: 200, headers, json: upload }
  }),
  handle(getUpload, async (input) => ({ status: 200, json: await read(parts, scopeOf(input), input.path.id) })),
  handle(cancelUpload, async (input) => ({ status: 200, json: await cancel(parts, scopeOf(input), input.path.id) })),
  handle(putUploadContent, async (input) => ({
    status: 200,
    json: await putContent(parts, scopeOf(input), input.path.id, input.body),
  })),
]
