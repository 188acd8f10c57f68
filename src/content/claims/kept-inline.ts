import type { Transaction } from '../../database/database.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { newGeneration } from '../../ports/blob-name.ts'
import { deleteInline, insertInline } from '../inline/inline.queries.ts'
import { expectBlob } from './claims.queries.ts'
import { insertStored, markInline, setInline } from './kept-inline.queries.ts'

/**
 * Stores bytes that the caller has verified, unless they are in the database already; locks the blob's row. From the
 * commit on they are there, or were before (I1).
 */
export const keepInline = async (tx: Transaction, digest: Sha256, bytes: Uint8Array, now: string): Promise<void> => {
  const size = bytes.byteLength
  const generation = newGeneration()
  if (await insertStored(tx, { digest, generation, size, now })) {
    await insertInline(tx, { generation, sha256: digest, bytes })
    return
  }
  const blob = await expectBlob(tx, digest, size)
  if (blob.state === 'stored') {
    if (blob.size !== size) throw new Error(`blob ${digest} is stored with ${blob.size} bytes, and ${size} came`)
    // Nobody asks the store here, which may have lost them: what came is where they are from now on.
    if (blob.inline === 0) await putInline(tx, digest, blob.generation, bytes)
    return
  }
  await insertInline(tx, { generation: blob.generation, sha256: digest, bytes })
  await markInline(tx, { digest, generation: blob.generation, size, now })
}

/** Bytes that are stored come to lie in the database. The caller has locked the blob's row. */
export const putInline = async (
  tx: Transaction,
  digest: Sha256,
  generation: string,
  bytes: Uint8Array,
): Promise<void> => {
  await deleteInline(tx, generation)
  await insertInline(tx, { generation, sha256: digest, bytes })
  await setInline(tx, { digest, inline: 1 })
}
