import { type HoldDeps, withHold } from '../../../content/reclaim/holds.ts'
import { currentSchema } from '../../../database/migrate.ts'
import { installation } from '../../../database/moving/installation.queries.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { ReachFaultPoint } from '../../../kernel/fault-points.ts'
import { unfinishedUsedMs } from '../../../kernel/limits/backups.ts'
import type { BlobStore } from '../../../ports/blob-store.ts'
import type { OpenSpool } from '../../../ports/spool.ts'
import { VaultFailure } from '../../../ports/vault.ts'
import type { VaultName } from '../../../ports/vault-name.ts'
import { type Counted, captureBlobs, planBlobs } from './capture-blobs.ts'
import { captureRows } from './capture-rows.ts'
import { byData, type Chunk } from './chunks.ts'
import { BackupLocked } from './coding.ts'
import { pagesOfContents } from './contents.ts'
import { BackupDamaged, type Room } from './data-files.ts'
import { beginVault } from './identity.ts'
import { entriesOfIndexes } from './indexes.ts'
import { pointName } from './layout.ts'
import { indexesIn } from './lying.ts'
import { chunksOf, type Manifest, type ManifestContent, manifestText, readManifest } from './manifest.ts'
import { pagesOfNamedBlobs } from './named-blobs.ts'
import { firstTryAt } from './naming.ts'

export interface CaptureDeps extends HoldDeps {
  readonly room: Room
  readonly store: Pick<BlobStore, 'size' | 'open'>
  readonly spool: OpenSpool
  readonly reach: ReachFaultPoint
  /** Version of the program, which the manifest tells. */
  readonly program: string
  readonly pace: (bytes: number) => Promise<void>
}

export interface CaptureWish {
  /** What the point is to be called: a UUID that nobody used. */
  readonly id: string
  /** A point of the same vault, of which what has not changed is taken. */
  readonly before: string | null
  readonly isDamaged: (name: VaultName) => boolean
  /** Throws where the capture is to stop. */
  readonly goOn: () => void
  readonly told: (progress: CaptureProgress) => void
}

/** How far a capture is. */
export interface CaptureProgress extends Counted {
  readonly phase: 'rows' | 'plan' | 'blobs' | 'manifest'
  readonly blobsTotal: number
  readonly bytesTotal: number
}

/**
 * Takes a point: one moment of the whole service, while everything goes on.
 *
 * Order: reclaim is held back -> one state of all tables -> every byte that this state names, hashed while it is copied
 * -> the manifest (I6). A crash leaves a vault without this manifest, in which the next capture finds what is there.
 */
export const capture = (deps: CaptureDeps, wish: CaptureWish): Promise<ManifestContent> =>
  withHold(deps, `backup to ${deps.room.vault.where}`, (checkHold) => {
    const goOn = (): void => {
      checkHold()
      wish.goOn()
    }
    return write(deps, { ...wish, goOn })
  })

const write = async (deps: CaptureDeps, wish: CaptureWish): Promise<ManifestContent> => {
  const { database, room, reach, clock, program } = deps
  const { isDamaged, goOn, told } = wish
  const vault = await beginVault(room.vault, clock.now())
  const before = await manifestBefore(room, vault, wish.before)
  const naming = { isDamaged, firstTry: () => firstTryAt(clock.now()) }
  const chunks = { before: byData(before === null ? [] : chunksOf(before)), ...naming }
  const progress = { phase: 'rows' as CaptureProgress['phase'], bytes: 0, blobs: 0, blobsTotal: 0, bytesTotal: 0 }
  const tell = (to: Partial<CaptureProgress>): void => told(Object.assign(progress, to))
  tell({})

  const { tables, snapshotAtMs, newBytes } = await captureRows(deps, room, chunks, goOn)
  tell({ phase: 'plan' })
  // Whoever may add files there shall not keep a point from being taken: what is not used is copied anew.
  const lying = await Array.fromAsync(indexesIn(room, { goOn, leavesRest: true }))
  const indexes = lying.map(({ name }) => name)
  // What the others name may be swept before this point has its manifest.
  const young = lying.filter(({ modifiedAtMs }) => modifiedAtMs > clock.now() - unfinishedUsedMs)
  const blobDeps = {
    ...deps,
    ...naming,
    goOn,
    chunks,
    blobs: () => pagesOfNamedBlobs(room, tables),
    known: () => [
      readable(room, before?.contents ?? []),
      onePage(
        entriesOfIndexes(
          room,
          young.map(({ name }) => name),
        ),
      ),
    ],
    counted: tell,
  }
  const plan = await planBlobs(blobDeps)
  await refuseUnlessRoomFor(room, plan.missingBytes)
  tell({ phase: 'blobs', blobsTotal: plan.blobs, bytesTotal: plan.bytes })
  const copied = await captureBlobs(blobDeps, plan)
  reach('backup.copied')

  goOn()
  tell({ phase: 'manifest' })
  const content: ManifestContent = {
    format: 'svc-backup',
    formatVersion: 1,
    id: wish.id,
    vault,
    schema: await currentSchema(database),
    program,
    source: (await installation(database.reader)).identity,
    snapshotAt: timestamp(snapshotAtMs),
    completedAt: timestamp(clock.now()),
    encrypted: room.coding.encrypted,
    tables,
    blobs: { count: plan.blobs, bytes: plan.bytes },
    newBytes: newBytes + copied.newBytes,
    contents: copied.contents.chunks,
    files: copied.files.chunks,
  }
  await seal(room, content)
  reach('backup.sealed')
  await forgetIndexes(room, [...indexes, ...copied.indexes])
  return content
}

/** What was there before, if it can be read: else everything is looked at anew. */
const manifestBefore = async (room: Room, vault: string, id: string | null): Promise<Manifest | null> => {
  if (id === null) return null
  try {
    const manifest = await readManifest(room.vault, id)
    return manifest.vault === vault && manifest.encrypted === room.coding.encrypted ? manifest : null
  } catch (error) {
    if (error instanceof BackupDamaged) return null
    throw error
  }
}

/** The entries of a list as far as it can be read: what a damaged chunk names is found in none, and copied anew. */
const readable = (room: Room, chunks: readonly Chunk[]): ReturnType<typeof pagesOfContents> =>
  pagesOfContents(room, chunks, (error) => {
    // Another service wrote it, or the key of this one was lost.
    if (!(error instanceof BackupDamaged || error instanceof BackupLocked)) throw error
  })

async function* onePage<T>(entries: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  for await (const entry of entries) yield [entry]
}

const refuseUnlessRoomFor = async ({ vault }: Room, bytes: number): Promise<void> => {
  const space = await vault.space()
  if (space !== null && bytes > space.freeBytes)
    throw new VaultFailure(
      'full',
      vault.where,
      `${bytes} bytes are to be copied there, and ${space.freeBytes} are free`,
    )
}

/** The last to be written, and read back. */
const seal = async ({ vault }: Room, content: ManifestContent): Promise<void> => {
  await vault.create(pointName(content.id), Buffer.from(manifestText(content)))
  const found = await readManifest(vault, content.id)
  // Only we know this id: what was there was ours, of an answer that was lost.
  if (found.snapshotAt !== content.snapshotAt)
    throw new Failure('already_exists', `The vault holds another point under the name ${content.id}.`)
}

/** What is not removed now is of no harm: it is read by a capture that finds no use for it. */
const forgetIndexes = async ({ vault }: Room, indexes: readonly VaultName[]): Promise<void> => {
  try {
    await vault.remove(indexes)
  } catch (error) {
    if (!(error instanceof VaultFailure)) throw error
  }
}
