import type { Row } from '../../../database/moving/rows.queries.ts'
import { Failure } from '../../../kernel/failure.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import { type Chunk, linesOf, rowIn } from './chunks.ts'
import { BackupLocked } from './coding.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import { type Manifest, readManifest } from './manifest.ts'

/** What answers read of a vault: 503 where it does not answer, 409 `point_unreadable` where it cannot be read. */
export interface PointReader {
  manifest(id: string): Promise<Manifest>
  lines(chunk: Chunk): Promise<readonly string[]>
  /** What a line of a chunk says. */
  row(chunk: Chunk, line: string, columns: readonly string[]): Row
}

/**
 * Reads points for answers. What was read last stays in memory, since the next page most often goes on in it: one
 * manifest and one chunk.
 */
export const createPointReader = (openRoom: () => Promise<Room>): PointReader => {
  let room: Promise<Room> | null = null
  let manifest: Manifest | null = null
  let chunk: { readonly file: string; readonly lines: readonly string[] } | null = null
  const opened = async (): Promise<Room> => {
    room ??= openRoom()
    return await room.catch((error: unknown) => {
      room = null
      throw error
    })
  }
  return {
    manifest: (id) =>
      answering(async () => {
        if (manifest?.id !== id) manifest = await readManifest((await opened()).vault, id)
        return manifest
      }),
    lines: (wanted) =>
      answering(async () => {
        if (chunk?.file !== wanted.file) chunk = { file: wanted.file, lines: await linesOf(await opened(), wanted) }
        return chunk.lines
      }),
    row(of, line, columns) {
      try {
        return rowIn(of, line, columns)
      } catch (error) {
        throw inAnswers(error)
      }
    },
  }
}

const answering = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw inAnswers(error)
  }
}

/** What answers say of an error. */
const inAnswers = (error: unknown): unknown => {
  if (error instanceof BackupDamaged)
    return new Failure('point_unreadable', `Something of the point is ${error.code} in the vault. Verify it.`, {
      forOperator: { file: error.file },
      cause: error,
    })
  if (error instanceof BackupLocked)
    return new Failure('point_unreadable', `The point is encrypted: ${error.message}`, { cause: error })
  if (error instanceof VaultFailure)
    return new Failure('unavailable', 'The vault of backups does not answer.', { cause: error, retryAfterSeconds: 60 })
  return error
}
