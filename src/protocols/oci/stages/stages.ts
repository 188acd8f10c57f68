import type { Queries, Transaction } from '../../../database/database.ts'
import { lockRepository } from '../../../database/locks.ts'
import type { OciStagesTable } from '../../../database/tables/images.ts'
import type { StageDeps } from '../../../features/catalog/stages/stages.ts'
import { imageLine } from '../../../journal/repository/image-lines.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { timestamp } from '../../../kernel/clock.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { stagesPerArtifactMax } from '../../../kernel/limits/catalog.ts'
import { isStage } from '../../../kernel/names.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { settleKept } from '../keeping.queries.ts'
import { manifestAt } from '../lookup.ts'
import { isDigest, isImageName } from '../vocabulary.ts'
import { deleteStage, insertStage, listStageRows, stageRowsOf } from './stages.queries.ts'

/**
 * Stages say how far an image has come, in the words of those of files: a manifest has them, whatever its tags do. One
 * that has a stage is kept, and not deleted. Every stage that comes or goes is a line of the promotion journal.
 */
export interface ImageStage {
  readonly image: string
  readonly digest: string
  readonly stage: string
  readonly promotedAt: string
  readonly actor: string
  readonly comment: string | null
}

/** A manifest that stages come to and go from, under the lock of its repository. */
export interface StagedManifest {
  readonly id: string
  readonly repository: string
  readonly name: string
  readonly digest: string
}

/** An image by its tag or digest. */
export interface ImageReference {
  readonly repository: string
  readonly image: string
  readonly reference: string
}

interface By {
  readonly actor: string
  readonly now: string
}

const toStage = ({ name, digest, stage, promoted_at, actor, comment }: OciStagesTable): ImageStage => ({
  image: name,
  digest,
  stage,
  promotedAt: promoted_at,
  actor,
  comment,
})

/** The manifest of an image. 404 without one. */
const manifestOf = async (q: Queries, { repository, image, reference }: ImageReference): Promise<StagedManifest> => {
  const { manifest } = await manifestAt(q, { repository, name: image }, reference)
  return { id: manifest.id, repository, name: image, digest: manifest.digest }
}

/** The same under the lock of its repository. */
const held = async (tx: Transaction, asked: ImageReference): Promise<StagedManifest> => {
  if (!(await lockRepository(tx, asked.repository))) throw notFound('repository')
  return manifestOf(tx, asked)
}

/**
 * Gives a manifest a stage. One that it has already stays exactly as it is, with its time, actor and comment, and the
 * journal is told nothing. 404 without a manifest, 409 `stage_limit` when it has as many as it may.
 */
export const addStage = (
  { database, clock }: StageDeps,
  asked: ImageReference & { readonly stage: string },
  comment: string | null,
  actor: string,
): Promise<ImageStage> =>
  database.transaction(async (tx) => {
    const manifest = await held(tx, asked)
    const now = timestamp(clock.now())
    const { name: image, digest } = manifest
    const wanted = { image, digest, stage: asked.stage, promotedAt: now, actor, comment }
    const stages = await giveStages(tx, manifest, [wanted], { actor, now })
    return stages.find(({ stage }) => stage === asked.stage) ?? wanted
  })

/** The same for several stages at once. All stages that it has then, in byte order. */
export const giveStages = async (
  tx: Transaction,
  { id, repository, name, digest }: StagedManifest,
  wanted: readonly Pick<ImageStage, 'stage' | 'promotedAt' | 'actor' | 'comment'>[],
  { actor, now }: By,
): Promise<ImageStage[]> => {
  const present = await stageRowsOf(tx, id)
  const lacking = wanted.filter(({ stage }) => present.every((row) => row.stage !== stage))
  if (present.length + lacking.length > stagesPerArtifactMax)
    throw new Failure('stage_limit', `An image may have ${stagesPerArtifactMax} stages; take one from it first.`)
  for (const { stage, promotedAt, actor: promoter, comment } of lacking) {
    const of = { manifest_id: id, stage, repository, name, digest }
    const row = { ...of, promoted_at: promotedAt, actor: promoter, comment }
    await insertStage(tx, row)
    const told = { repository, action: 'image.staged', artifactId: id, promotion: { comment } } as const
    await appendJournal(tx, { ...told, detail: imageLine(name, digest, stage), actor, occurredAt: now })
    present.push(row)
  }
  if (lacking.length > 0) await settleKept(tx, [id], now)
  return present.map(toStage).sort((a, b) => (a.stage < b.stage ? -1 : 1))
}

/** Takes a stage from a manifest, which may go then as any other. Harmless when it does not have it. 404 as above. */
export const removeStage = (
  { database, clock }: StageDeps,
  asked: ImageReference & { readonly stage: string },
  actor: string,
): Promise<void> =>
  database.transaction(async (tx) => {
    const manifest = await held(tx, asked)
    await takeStage(tx, manifest, asked.stage, { actor, now: timestamp(clock.now()) })
  })

/** Takes all stages from a manifest. What they were. */
export const takeStages = async (tx: Transaction, manifest: StagedManifest, by: By): Promise<ImageStage[]> => {
  const rows = await stageRowsOf(tx, manifest.id)
  for (const { stage } of rows) await takeStage(tx, manifest, stage, by)
  return rows.map(toStage)
}

const takeStage = async (
  tx: Transaction,
  { id, repository, name, digest }: StagedManifest,
  stage: string,
  { actor, now }: By,
): Promise<void> => {
  if (!(await deleteStage(tx, id, stage))) return
  await settleKept(tx, [id], now)
  const told = { repository, action: 'image.unstaged', artifactId: id } as const
  await appendJournal(tx, { ...told, detail: imageLine(name, digest, stage), actor, occurredAt: now })
}

export interface StagePage {
  readonly stage: string | undefined
  readonly image: string | undefined
  /** Of the image; undefined for all of its manifests. */
  readonly reference: string | undefined
  readonly after: string | undefined
  readonly limit: number
}

/**
 * A page of stages in a repository by image, digest and stage: of one stage, of one image or of one manifest where that
 * is asked for. 404 for a manifest that is not there.
 */
export const stagePage = async (
  q: Queries,
  repository: string,
  { stage, image, reference, after, limit }: StagePage,
): Promise<Page<ImageStage>> => {
  const manifest =
    image === undefined || reference === undefined ? null : await manifestOf(q, { repository, image, reference })
  const filter = { stage: stage ?? null, name: image ?? null, digest: manifest?.digest ?? null }
  const listing = ['stages of images', repository, filter.stage, filter.name, filter.digest]
  const rows = await listStageRows(q, repository, { ...filter, after: positionOf(listing, after) }, limit + 1)
  return pageOf(rows, limit, toStage, (row) => opaqueCursor(listing, [row.name, row.digest, row.stage]))
}

/** Where a page goes on; null for the first one. */
const positionOf = (listing: readonly unknown[], after: string | undefined) => {
  if (after === undefined) return null
  const [name = '', digest = '', stage = ''] = positionOfCursor(listing, after, [isImageName, isDigest, isStage])
  return { name, digest, stage }
}
