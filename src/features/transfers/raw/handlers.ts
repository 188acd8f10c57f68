import type { ServeDeps } from '../../../content/serve/serve.ts'
import { downloadAsked } from '../../../contract/download.ts'
import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf } from '../../../kernel/caller.ts'
import { toSha256 } from '../../../kernel/digest.ts'
import { parsePath } from '../../catalog/assets/assets.ts'
import { servePath } from '../../catalog/assets/content.ts'
import { removePath } from '../../catalog/assets/removal.ts'
import type { TransferDeps } from '../uploads/uploads.ts'
import * as operations from './operations.ts'
import { putRaw } from './raw.ts'

export const rawHandlers = (deps: TransferDeps & ServeDeps): BoundOperation[] => [
  handle(operations.removeRaw, async ({ path, query, headers, caller }) => {
    const unwanted = {
      path: parsePath(path.assetPath, '/path/assetPath'),
      expectedRevision: query.expectedRevision,
      expects: { ifMatch: headers['if-match'], ifUnmodifiedSince: headers['if-unmodified-since'] },
    }
    return { status: 200, json: await removePath(deps, path.repository, unwanted, actorOf(caller)) }
  }),
  handle(operations.getRaw, ({ path, headers, caller, request }) =>
    servePath(
      deps,
      path.repository,
      parsePath(path.assetPath, '/path/assetPath'),
      downloadAsked({ headers, caller, request }),
    ),
  ),
  handle(operations.putRaw, async ({ path, headers, body, caller }) => {
    const checksum = headers['x-checksum-sha256']
    const stored = await putRaw(
      deps,
      { repository: path.repository, owner: actorOf(caller) },
      {
        path: parsePath(path.assetPath, '/path/assetPath'),
        declaredBytes: body.declaredBytes,
        digest: checksum === undefined ? null : toSha256(checksum.toLowerCase()),
        onlyNew: headers['if-none-match'] !== undefined,
        expects: { ifMatch: headers['if-match'], ifUnmodifiedSince: headers['if-unmodified-since'] },
        pieces: body.pieces,
      },
    )
    return stored.created ? { status: 201, json: stored } : { status: 200, json: stored }
  }),
]
