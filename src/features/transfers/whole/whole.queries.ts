import type { Transaction } from '../../../database/database.ts'
import { type Parameters, prepareQuery } from '../../../database/prepared.ts'
import type { UploadsTable } from '../../../database/tables/uploads.ts'

export const insertTransfer = prepareQuery((q, p: Parameters<UploadsTable>) =>
  q.insertInto('uploads').values({
    id: p('id'),
    repository: p('repository'),
    kind: p('kind'),
    owner: p('owner'),
    idempotency_key: p('idempotency_key'),
    name: p('name'),
    size: p('size'),
    sha256: p('sha256'),
    labels: p('labels'),
    metadata: p('metadata'),
    status: p('status'),
    created_at: p('created_at'),
    expires_at: p('expires_at'),
    ended_at: p('ended_at'),
    turn_holder: p('turn_holder'),
    turn_until: p('turn_until'),
  }),
)

const deleteById = prepareQuery((q, p: Parameters<{ id: string }>) =>
  q.deleteFrom('uploads').where('id', '=', p('id')).returning('id'),
)

/** Ends a transfer. False where it had ended before. */
export const deleteTransfer = async (tx: Transaction, id: string): Promise<boolean> =>
  (await deleteById(tx, { id })).length > 0
