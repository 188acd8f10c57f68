import type { Transaction } from '../../database/database.ts'
import type { Sha256 } from '../../kernel/digest.ts'
import { newGeneration } from '../../ports/blob-name.ts'
import { insertInline } from '../inline/inline.queries.ts'
import { expectBlob } from './claims.queries.ts'
import { insertStored, markInline } from './kept-inline.queries.ts'

/**
 * Stores bytes that the caller has verified, unless they are stored already; locks the blob's row. From the commit on
 * they are there, or were before (I1).
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
    return
  }
  await insertInline(tx, { generation: blob.generation, sha256: digest, bytes })
  await markInline(tx, { digest, generation: blob.generation, size, now })
}
