import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { closeConnections, type Told } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { createOwner, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { inDatabase } from '../harness/rows.ts'
import { startService, type TestService } from '../harness/service.ts'

const repositories = ['left', 'right'] as const
const rounds = 12
const writersPerGateway = 4

interface Change {
  readonly id: string
  readonly repository: string
  readonly sequence: string
  readonly action: string
  readonly artifactId: string
  readonly detail: string | null
}

after(closeConnections)

/**
 * Many write through several gateways at once, while others follow: what followers see is what happened, in its order.
 */
forEachEngine((engine) => {
  let gateways: TestService[] = []
  let owner: Person
  before(async () => {
    const first = await startService(engine, { roles: { gateway: 'api', worker: false } })
    const roles = { gateway: 'api', worker: false } as const
    gateways = [
      first,
      await startService(engine, { on: first, roles }),
      await startService(engine, { on: first, roles }),
    ]
    owner = await createOwner(first)
    for (const id of repositories) {
      await createRepository(first, id)
      await grant(first, owner, id, 'write')
    }
  })
  after(async () => {
    for (const gateway of gateways.toReversed()) await gateway.stop()
  })

  const gateway = (index: number): TestService => {
    const found = gateways[index % gateways.length]
    assert.ok(found !== undefined)
    return found
  }
  const base = (repository: string): string => `/api/v1/repositories/${repository}`
  const changes = async (at: TestService, repository: string, after: string, wait: number, limit = 7) => {
    const query = `after=${after}&wait=${wait}&limit=${limit}`
    const path = `${base(repository)}/changes?${query}`
    const { json } = await expectAnswer(at, { path, credential: owner.token }, 200)
    return json as { items: Change[]; next: string; head: string }
  }

  /** What the writers were told had happened, as the feed has to tell it: action, file, path. */
  const acknowledged: Record<string, string[][]> = { left: [], right: [] }
  const textOf = ({ action, artifactId, detail }: Pick<Change, 'action' | 'artifactId' | 'detail'>): string =>
    `${action} ${artifactId} ${detail}`

  /** Puts, replaces and restores its own paths, and fights with all others for one. */
  const write = async (writer: number): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      const at = gateway(writer + round)
      const repository = repositories[(writer + round) % 2] ?? 'left'
      const path = `writer-${writer}/${round}`
      const ask = (method: string, what: string, json: unknown): Promise<Told> =>
        at.ask({ method, path: `${base(repository)}/${what}`, credential: owner.token, json })
      const told = await expectAnswer(
        at,
        { method: 'PUT', path: `${base(repository)}/raw/${path}`, credential: owner.token, body: `${writer} ${round}` },
        201,
      )
      const { id } = told.json.artifact
      const mine = [`artifact.publish ${id} null`, `asset.replace ${id} ${path}`]
      if (round % 3 === 0) {
        const file = newFile(path, `other ${writer} ${round}`)
        const other = await publish(at, owner.token, repository, file)
        const replaced = await ask('PUT', 'asset', { path, artifactId: other, expectedRevision: 1 })
        assert.equal(replaced.status, 200, replaced.text)
        const restored = await ask('POST', 'asset/restore', { path, sourceRevision: 1, expectedRevision: 2 })
        assert.equal(restored.status, 200, restored.text)
        mine.push(`artifact.publish ${other} null`, `asset.replace ${other} ${path}`, `asset.restore ${id} ${path}`)
      }
      const contested = await at.ask({ path: `${base(repository)}/asset?path=contested`, credential: owner.token })
      const expectedRevision = contested.status === 200 ? contested.json.revision : 0
      const won = await ask('PUT', 'asset', { path: 'contested', artifactId: id, expectedRevision })
      assert.ok(won.status === 200 || won.status === 409, won.text)
      if (won.status === 200) mine.push(`asset.replace ${id} contested`)
      acknowledged[repository]?.push(mine)
    }
  }

  /** Follows a feed until the writers are done and nothing is left. */
  const follow = async (index: number, repository: string, done: () => boolean): Promise<Change[]> => {
    const seen: Change[] = []
    let next = '0'
    for (let round = 0; ; round++) {
      const over = done()
      // Through one gateway after the other, as behind a balancer.
      const page = await changes(gateway(index + round), repository, next, over ? 0 : 1)
      seen.push(...page.items)
      assert.ok(Number(page.head) >= Number(page.next) && Number(page.next) >= Number(next))
      next = page.next
      if (over && page.items.length === 0) return seen
    }
  }

  describe('followers of a feed', () => {
    it('see every change once, in the order of sequences without gaps, through any gateway', async () => {
      let writing = true
      const followers = repositories.flatMap((repository) =>
        [0, 1, 2].map(async (index) => ({ repository, seen: await follow(index, repository, () => !writing) })),
      )
      const writers = Array.from({ length: writersPerGateway * gateways.length }, (_, writer) => write(writer))
      try {
        await Promise.all(writers)
      } finally {
        writing = false
      }
      for (const { repository, seen } of await Promise.all(followers)) {
        assert.deepEqual(
          seen.map(({ sequence }) => Number(sequence)),
          seen.map((_, index) => index + 1),
          repository,
        )
        for (const { id, sequence } of seen) assert.equal(id, `${repository}:${sequence}`)
        const place = new Map(seen.map((change, index) => [textOf(change), index]))
        const told = acknowledged[repository] ?? []
        assert.equal(place.size, seen.length, 'no change is told twice')
        assert.deepEqual([...place.keys()].sort(), told.flat().sort())
        // Each writer waited for its answer before it went on.
        for (const mine of told)
          for (const [index, text] of mine.entries())
            assert.ok(index === 0 || Number(place.get(text)) > Number(place.get(mine[index - 1] ?? '')), text)
      }
    })

    it('see what is acknowledged at once, wherever they ask', async () => {
      for (let round = 0; round < 9; round++) {
        const { head } = await changes(gateway(round), 'left', '0', 0)
        const written = await Promise.all(
          gateways.map(async (at, index) => {
            const path = `${base('left')}/raw/seen/${round}/${index}`
            const told = await expectAnswer(at, { method: 'PUT', path, credential: owner.token, body: path }, 201)
            const { items } = await changes(gateway(index + 1), 'left', head, 0, 100)
            assert.ok(
              items.some(({ artifactId }) => artifactId === told.json.artifact.id),
              `${path} was acknowledged and is not in the feed`,
            )
            return told.json.artifact.id
          }),
        )
        assert.equal(new Set(written).size, gateways.length)
      }
    })

    it('are not shown a change whose predecessor is still to be committed', async () => {
      // A transaction that has taken its sequence and takes its time: what comes later waits for it, or is not seen
      // before.
      const before = (await changes(gateway(0), 'right', '0', 0)).head
      const open = Promise.withResolvers<void>()
      const taken = Promise.withResolvers<void>()
      const slow = inDatabase(gateway(0), async (q) => {
        const { journal_head } = await q
          .updateTable('repositories')
          .set((eb) => ({ journal_head: eb('journal_head', '+', 1) }))
          .where('id', '=', 'right')
          .returning('journal_head')
          .executeTakeFirstOrThrow()
        taken.resolve()
        await open.promise
        const line = { action: 'artifact.restore', detail: null, actor: 'test', occurred_at: '' } as const
        const artifact_id = '00000000-0000-7000-8000-000000000000'
        await q
          .insertInto('journal')
          .values({ ...line, repository: 'right', sequence: journal_head, artifact_id })
          .execute()
      })
      await taken.promise
      const path = `${base('right')}/raw/overtaking`
      const fast = expectAnswer(gateway(1), { method: 'PUT', path, credential: owner.token, body: 'fast' }, 201)
      const waiting = changes(gateway(2), 'right', before, 1)
      const page = await waiting
      assert.deepEqual([page.items, page.head], [[], before])
      open.resolve()
      await Promise.all([slow, fast])
      const { items } = await changes(gateway(2), 'right', before, 0)
      assert.deepEqual(
        items.map(({ sequence, action }) => [Number(sequence) - Number(before), action]),
        [
          [1, 'artifact.restore'],
          [2, 'artifact.publish'],
          [3, 'asset.replace'],
        ],
      )
    })
  })
})
