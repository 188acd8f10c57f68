import assert from 'node:assert/strict'
import type { JournalTable } from '../../src/database/tables/journal.ts'
import { inDatabase } from './rows.ts'
import type { TestService } from './service.ts'

/*
 * Holds what two or more repositories have against what their journals tell. The journals are replayed line by line,
 * and a copy begins as what its source was at the line that tells of the promotion: whatever half of a copy there were,
 * in a table or in a journal, would be something that no line tells of, or a line that nothing stands for.
 */

/** What annotations say in these tests: whose they were first, and how often that had been annotated then. */
export const annotationsOf = (id: string, revision: number) => {
  const said = `${id}:${revision}`
  return { labels: [said], metadata: { said }, collections: [said] }
}

interface State {
  readonly published: boolean
  readonly isPackage: boolean
  readonly revision: number
  /** As {@link annotationsOf} may have been called for them; empty for what was never annotated. */
  readonly annotated: readonly (readonly [id: string, revision: number])[]
  readonly stages: ReadonlySet<string>
}

const unborn: State = { published: false, isPackage: false, revision: 0, annotated: [], stages: new Set() }

const readAll = (service: Pick<TestService, 'databaseUrl'>, repositories: readonly string[]) =>
  inDatabase(service, async (q) => {
    const lines = q.selectFrom('journal').selectAll().where('repository', 'in', repositories)
    return {
      lines: await lines.orderBy('repository').orderBy('sequence').execute(),
      published: await q.selectFrom('artifacts').selectAll().where('repository', 'in', repositories).execute(),
      deleted: await q.selectFrom('deleted_artifacts').selectAll().where('repository', 'in', repositories).execute(),
      packages: await q.selectFrom('packages').selectAll().where('repository', 'in', repositories).execute(),
      freed: await q.selectFrom('freed_packages').selectAll().where('repository', 'in', repositories).execute(),
      claims: await q.selectFrom('claims').selectAll().where('repository', 'in', repositories).execute(),
      stages: await q.selectFrom('artifact_stages').selectAll().where('repository', 'in', repositories).execute(),
      packageStages: await q.selectFrom('package_stages').selectAll().where('repository', 'in', repositories).execute(),
      annotations: await q.selectFrom('annotations').selectAll().execute(),
      counted: await q.selectFrom('repositories').selectAll().where('id', 'in', repositories).execute(),
    }
  })

type Everything = Awaited<ReturnType<typeof readAll>>

/**
 * Fails unless everything is there that the journals of these repositories tell of, and nothing else. Answers their
 * lines.
 */
export const promotionsAreWhole = async (
  service: Pick<TestService, 'databaseUrl'>,
  repositories: readonly string[],
): Promise<readonly JournalTable[]> => {
  const all = await readAll(service, repositories)
  bothEndsTell(all.lines)
  const replay = new Replay(all.lines)
  const born = new Set(all.lines.map(({ artifact_id }) => artifact_id))
  for (const { id } of [...all.published, ...all.deleted]) assert.ok(born.has(id), `no journal tells of ${id}`)
  for (const { id, state } of all.claims)
    assert.ok(born.has(id) || state === 'pending', `a claim without a file: ${id}`)
  for (const id of born) compare(all, id, replay)
  for (const { id, published_bytes, retired_bytes } of all.counted) {
    const sum = (state: string): number =>
      all.claims.reduce((bytes, row) => (row.repository === id && row.state === state ? bytes + row.size : bytes), 0)
    assert.deepEqual([published_bytes, retired_bytes], [sum('live'), sum('retired')], `the counters of ${id}`)
  }
  return all.lines
}

/**
 * Each file that came is told of in the journal of its source and in its own, in the same words. What is moved to a
 * copy that came before is told of where it goes alone.
 */
const bothEndsTell = (lines: readonly JournalTable[]): void => {
  const said = (line: JournalTable, from: string[], to: string[]): string =>
    JSON.stringify([from, to, line.mode, line.comment, line.actor, line.occurred_at])
  const own = ({ repository, artifact_id }: JournalTable): string[] => [repository, artifact_id]
  const peer = (line: JournalTable): string[] => [line.peer_repository ?? '', line.peer_artifact_id ?? '']
  const sent = Map.groupBy(
    lines.filter(({ action }) => action === 'artifact.promoted'),
    (line) => JSON.stringify([own(line), peer(line)]),
  )
  const received = lines.filter(({ action }) => action === 'artifact.received')
  const heads: string[] = []
  for (const [first, ...later] of sent.values()) {
    if (first !== undefined) heads.push(said(first, own(first), peer(first)))
    for (const { mode } of later) assert.equal(mode, 'move', 'a copy that is there is not told of again')
  }
  assert.deepEqual(
    received.map((line) => said(line, peer(line), own(line))).sort(),
    heads.sort(),
    'one of the two journals tells of a promotion that the other does not',
  )
}

class Replay {
  readonly #byFile: Map<string, JournalTable[]>

  constructor(lines: readonly JournalTable[]) {
    this.#byFile = Map.groupBy(lines, ({ artifact_id }) => artifact_id)
  }

  linesOf(id: string): JournalTable[] {
    return this.#byFile.get(id) ?? []
  }

  /** What a file is after all lines of its own, or before the line that tells where it was promoted to. */
  stateOf(id: string, until: (line: JournalTable) => boolean = () => false): State {
    let state = unborn
    for (const [index, line] of this.linesOf(id).entries()) {
      if (until(line)) break
      state = this.#after(state, line, index)
    }
    return state
  }

  #after(state: State, line: JournalTable, index: number): State {
    const { action, artifact_id: id, detail } = line
    const what = `${action} of ${id}, line ${line.sequence} of ${line.repository}`
    const stages = new Set(state.stages)
    switch (action) {
      case 'artifact.publish':
        assert.deepEqual(state, unborn, what)
        return { ...state, published: true }
      case 'artifact.received':
        return state.published ? state : this.#born(line, what)
      case 'artifact.promoted':
        assert.ok(state.published, what)
        if (state.isPackage) this.#isPackageThere(line, what)
        if (line.mode === 'move') this.#leaves(line, index, what)
        return state
      case 'package.register':
        assert.ok(state.published && !state.isPackage, what)
        return { ...state, isPackage: true }
      case 'annotation.replace':
        assert.ok(state.published, what)
        return { ...state, revision: state.revision + 1, annotated: [[id, state.revision + 1], ...this.#carried(line)] }
      case 'stage.added':
        assert.ok(state.published && !stages.has(detail ?? ''), what)
        return { ...state, stages: stages.add(detail ?? '') }
      case 'stage.removed':
        assert.ok(state.published && stages.delete(detail ?? ''), what)
        return { ...state, stages }
      case 'artifact.delete':
        assert.ok(state.published && stages.size === 0, what)
        return { ...state, published: false }
      case 'artifact.restore':
        assert.ok(!state.published && state !== unborn, what)
        return { ...state, published: true }
      default:
        return assert.fail(what)
    }
  }

  /** A copy begins as what its source is when it is made: annotated, and a package, if that is one. */
  #born(line: JournalTable, what: string): State {
    const { artifact_id: copy, peer_artifact_id: peer } = line
    const told = (sent: JournalTable): boolean =>
      sent.action === 'artifact.promoted' && sent.peer_artifact_id === copy && sent.occurred_at === line.occurred_at
    assert.ok(this.linesOf(copy)[0] === line, `${what} comes late`)
    const source = this.stateOf(peer ?? '', told)
    assert.ok(source.published, what)
    const second = this.linesOf(copy)[1]
    const registered = second?.action === 'package.register' && second.occurred_at === line.occurred_at
    assert.equal(registered, source.isPackage, `${what}: its package version`)
    const revision = source.annotated.length === 0 ? 0 : 1
    return { ...unborn, published: true, revision, annotated: source.annotated }
  }

  /** What a move to it at the time of this line may have brought along. */
  #carried({ artifact_id: copy, occurred_at: at }: JournalTable): State['annotated'] {
    const isMove = (line: JournalTable): boolean =>
      line.mode === 'move' && line.peer_artifact_id === copy && line.occurred_at === at
    const moves = [...this.#byFile.values()]
      .flat()
      .filter((line) => line.action === 'artifact.promoted' && isMove(line))
    return moves.flatMap((move) => this.stateOf(move.artifact_id, (line) => line === move).annotated)
  }

  /** What is a package is one there as well. */
  #isPackageThere({ peer_artifact_id: copy }: JournalTable, what: string): void {
    assert.ok(
      this.linesOf(copy ?? '').some(({ action }) => action === 'package.register'),
      `${what}: its version`,
    )
  }

  /** A move takes all stages from the source and deletes it, and the copy has them. */
  #leaves(line: JournalTable, index: number, what: string): void {
    const rest = this.linesOf(line.artifact_id).slice(index + 1)
    const end = rest.findIndex(({ action }) => action !== 'stage.removed')
    const [taken, deletion] = [rest.slice(0, end), rest[end]]
    assert.deepEqual([deletion?.action, deletion?.occurred_at], ['artifact.delete', line.occurred_at], what)
    for (const { detail } of taken) {
      const came = (one: JournalTable): boolean => one.action === 'stage.added' && one.detail === detail
      assert.ok(this.linesOf(line.peer_artifact_id ?? '').some(came), `${what}: its stage ${detail}`)
    }
  }
}

/** Every table says of a file what the journal does. */
const compare = (all: Everything, id: string, replay: Replay): void => {
  const state = replay.stateOf(id)
  const [first] = replay.linesOf(id)
  if (first === undefined) assert.fail(id)
  const { repository } = first
  const row = all.published.find((one) => one.id === id)
  const aside = all.deleted.find((one) => one.id === id)
  assert.deepEqual([row !== undefined, aside !== undefined], [state.published, !state.published], `${id} is half there`)
  const file = row ?? aside ?? assert.fail(id)
  assert.equal(file.repository, repository)

  const claim = all.claims.find((one) => one.id === id)
  const { size, sha256 } = file
  const claimed = { repository, size, sha256, state: state.published ? 'live' : 'retired' }
  assert.deepEqual(
    { repository: claim?.repository, size: claim?.size, sha256: claim?.sha256, state: claim?.state },
    claimed,
    `the claim of ${id}`,
  )

  const version = all.packages.filter((one) => one.artifact_id === id)
  const freed = all.freed.filter((one) => one.artifact_id === id)
  const expected = state.isPackage ? [state.published ? 1 : 0, state.published ? 0 : 1] : [0, 0]
  assert.deepEqual([version.length, freed.length], expected, `the package version of ${id}`)

  const stages = all.stages.filter((one) => one.artifact_id === id)
  assert.deepEqual(stages.map(({ stage }) => stage).sort(), [...state.stages].sort(), `the stages of ${id}`)
  const derived = all.packageStages.filter((one) => one.artifact_id === id)
  const due = state.isPackage && state.published ? stages : []
  assert.deepEqual(derived.map(({ stage }) => stage).sort(), due.map(({ stage }) => stage).sort(), `resolving ${id}`)

  const source = [...all.published, ...all.deleted].find((one) => one.id === first.peer_artifact_id)
  const same = (one: typeof file) => [one.name, one.size, one.sha256, one.labels, one.metadata]
  if (source !== undefined) assert.deepEqual(same(file), same(source), `what ${id} was copied from`)

  const annotations = all.annotations.find((one) => one.artifact_id === id)
  assert.equal(annotations?.revision ?? 0, state.revision, `the annotations of ${id}`)
  if (annotations === undefined) return
  const { labels, metadata, collections } = annotations
  const said = JSON.stringify([labels, metadata, collections].map((json) => JSON.parse(json)))
  const possible = state.annotated.map((each) => JSON.stringify(Object.values(annotationsOf(...each))))
  assert.ok(possible.includes(said), `the annotations of ${id}: ${said}`)
}
