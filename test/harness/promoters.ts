import assert from 'node:assert/strict'
import type { JournalTable } from '../../src/database/tables/journal.ts'
import type { Ask, Told } from './client.ts'
import { publishPackage, register } from './packages.ts'
import { createRepository } from './people.ts'
import type { Answering } from './service.ts'
import { activeKey, binding, createServiceAccount } from './service-keys.ts'
import { annotationsOf } from './whole-promotions.ts'

/** Builds go back and forth between them. */
export const sides = ['near', 'far'] as const
export type Side = (typeof sides)[number]
export const otherSide = (repository: Side): Side => (repository === 'near' ? 'far' : 'near')

export interface Build {
  readonly repository: Side
  readonly id: string
}

export interface Wish {
  readonly mode: 'copy' | 'move'
  readonly stages?: readonly string[]
  readonly comment?: string
}

/** What was acknowledged, as the line of a journal that must tell of it. */
type Line = Pick<JournalTable, 'repository' | 'artifact_id' | 'action'> & { readonly detail?: string }

/** Two repositories of packages, and a key that may do everything in both. */
export class Promoters {
  readonly #service: Answering
  readonly #key: string
  /** Files that are known, the newest last. */
  readonly builds: Build[] = []
  readonly acknowledged: Line[] = []
  /** What acknowledged promotions said of themselves, with what they answered. */
  readonly promoted: { readonly comment: string; readonly to: Build }[] = []
  #made = 0

  private constructor(service: Answering, key: string) {
    this.#service = service
    this.#key = key
  }

  static async on(service: Answering): Promise<Promoters> {
    for (const repository of sides) await createRepository(service, repository)
    const bindings = sides.map((repository) =>
      binding(
        repository,
        'artifact.read',
        'artifact.list',
        'artifact.delete',
        'artifact.promote',
        'content.read',
        'upload.create',
        'upload.write',
        'upload.complete',
        'package.read',
        'package.publish',
        'annotation.read',
        'annotation.write',
      ),
    )
    const account = await createServiceAccount(service, bindings)
    const { secret } = await activeKey(service, account.id, { bindings })
    return new Promoters(service, secret)
  }

  /** Asks below a file. */
  ask({ repository, id }: Build, asked: Ask): Promise<Told> {
    const path = `/api/v1/repositories/${repository}/artifacts/${id}${asked.path}`
    return this.#service.ask({ credential: this.#key, ...asked, path })
  }

  /** Asks below a repository. */
  askIn(repository: Side, path: string): Promise<Told> {
    return this.#service.ask({ path: `/api/v1/repositories/${repository}${path}`, credential: this.#key })
  }

  /** A package version of its own. */
  async make(repository: Side): Promise<Build> {
    const number = ++this.#made
    const manifest = { group: 'tools', name: 'build', version: `1.0.${number}` }
    const id = await publishPackage(this.#service, this.#key, repository, manifest, [
      { name: 'package/number.txt', content: String(number) },
    ])
    const build = { repository, id }
    this.builds.push(build)
    this.#tell(build, 'artifact.publish')
    const told = await register(this.#service, this.#key, repository, id)
    // Somebody may have deleted or moved it already.
    if (told.status === 200) this.#tell(build, 'package.register')
    else assert.ok([404, 409].includes(told.status), told.text)
    return build
  }

  async promote(build: Build, wish: Wish): Promise<Told> {
    const target = otherSide(build.repository)
    const told = await this.ask(build, { path: '/promote', json: { ...wish, target } })
    if (told.status >= 300) return told
    const to = { repository: target, id: String(told.json.artifactId) }
    if (told.status === 201) {
      this.builds.push(to)
      this.promoted.push({ comment: wish.comment ?? '', to })
    }
    if (wish.mode === 'move') this.#tell(build, 'artifact.delete')
    for (const stage of wish.stages ?? []) this.#tell(to, 'stage.added', stage)
    return told
  }

  async annotate(build: Build): Promise<Told> {
    const seen = await this.ask(build, { path: '/annotations' })
    if (seen.status !== 200) return seen
    const { revision } = seen.json
    const json = { expectedRevision: revision, value: annotationsOf(build.id, revision + 1) }
    const told = await this.ask(build, { method: 'PUT', path: '/annotations', json })
    if (told.status === 200) this.#tell(build, 'annotation.replace')
    return told
  }

  async stage(build: Build, stage: string, comment: string | null = null): Promise<Told> {
    const told = await this.ask(build, { method: 'PUT', path: `/stages/${stage}`, json: { comment } })
    if (told.status === 200) this.#tell(build, 'stage.added', stage)
    return told
  }

  async unstage(build: Build, stage: string): Promise<Told> {
    return this.ask(build, { method: 'DELETE', path: `/stages/${stage}` })
  }

  async remove(build: Build): Promise<Told> {
    const { status, json } = await this.ask(build, { path: '/annotations' })
    const asked = { expectedAnnotationRevision: status === 200 ? json.revision : 0 }
    const told = await this.ask(build, { method: 'DELETE', path: '', json: asked })
    if (told.status === 200 && told.json.outcome === 'deleted') this.#tell(build, 'artifact.delete')
    return told
  }

  async restore(build: Build): Promise<Told> {
    return this.ask(build, { method: 'POST', path: '/restore' })
  }

  /** Fails unless all that was acknowledged is told by these lines of both journals. */
  areTold(lines: readonly JournalTable[]): void {
    const told = new Set(lines.flatMap((line) => [key(line), key({ ...line, detail: '' })]))
    for (const line of this.acknowledged)
      assert.ok(told.has(key({ detail: '', ...line })), `acknowledged and lost: ${JSON.stringify(line)}`)
    for (const { comment, to } of this.promoted) {
      const line = lines.find((one) => one.action === 'artifact.received' && one.comment === comment)
      assert.deepEqual(
        [line?.repository, line?.artifact_id],
        [to.repository, to.id],
        `acknowledged and lost: ${comment}`,
      )
    }
  }

  #tell({ repository, id }: Build, action: JournalTable['action'], detail = ''): void {
    this.acknowledged.push({ repository, artifact_id: id, action, detail })
  }
}

const key = ({ repository, artifact_id, action, detail }: Omit<Line, 'detail'> & { detail?: string | null }): string =>
  [repository, artifact_id, action, detail].join(' ')

/**
 * What one of several does at once: one of everything, most of the time with what others have in their hands as well.
 * Fails when the answer is none that others may be the reason of.
 */
export const oneDeed = async (promoters: Promoters, random: () => number, name: string): Promise<true> => {
  const { builds } = promoters
  const recent = builds.slice(-4)
  const build = recent[Math.floor(random() * recent.length)]
  if (build === undefined || random() < 0.1) {
    await promoters.make(random() < 0.5 ? 'near' : 'far')
    return true
  }
  const told = await deedWith(build, promoters, random, name)
  assert.ok(isFair(told), `${told.status} ${told.text}`)
  return true
}

const deedWith = (build: Build, promoters: Promoters, random: () => number, name: string): Promise<Told> => {
  const chance = random()
  const stage = random() < 0.5 ? 'tested' : 'released'
  const mode = random() < 0.5 ? 'copy' : 'move'
  if (chance < 0.55) return promoters.promote(build, { mode, comment: name, stages: random() < 0.3 ? [stage] : [] })
  if (chance < 0.68) return promoters.annotate(build)
  if (chance < 0.77) return promoters.stage(build, stage, name)
  if (chance < 0.86) return promoters.unstage(build, stage)
  if (chance < 0.95) return promoters.remove(build)
  return promoters.restore(build)
}

/** What a deed may answer when others do theirs: it was done, it came too late, or something is in its way. */
export const isFair = (told: Told): boolean =>
  told.status < 300 || told.status === 404 || (told.status === 409 && refusals.has(told.json.code))

const refusals: ReadonlySet<unknown> = new Set([
  'revision_mismatch',
  'version_exists',
  'source_not_deletable',
  'stage_limit',
])
