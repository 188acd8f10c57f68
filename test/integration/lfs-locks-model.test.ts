import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { closeConnections } from '../harness/client.ts'
import { walks } from '../harness/depth.ts'
import { forEachEngine } from '../harness/engines.ts'
import { lfsSite } from '../harness/lfs.ts'
import { freshName } from '../harness/service-keys.ts'

after(closeConnections)

/** Random walks through locks of two people in two Git repositories, beside a model that knows who has which. */
const step = fc.record({
  kind: fc.constantFrom('lock', 'lock', 'unlock', 'force', 'list', 'verify', 'at once'),
  who: fc.nat(1),
  where: fc.nat(1),
  path: fc.constantFrom('a', 'A', 'a/b', 'ü'),
  limit: fc.constantFrom(1, 2, 100),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Held {
  readonly id: string
  readonly who: number
  readonly path: string
}

forEachEngine((engine) => {
  const site = lfsSite(engine, { roles: { gateway: 'api', worker: false } })
  const { ask, say } = site

  it('locks are what a model of them says, after every step', async () => {
    const names = ['owner', 'other']
    const credentialOf = (who: number): string => (who === 0 ? site.owner : site.other).token
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
        const bases = [0, 1].map(() => `/lfs/releases/${freshName('walk')}/locks`)
        /** The newest last. */
        const models: Held[][] = [[], []]
        for (const each of steps) await act(each, bases[each.where] ?? '', models[each.where] ?? [])
        for (const [at, base] of bases.entries()) await isAsModelled(base, models[at] ?? [], 0, 2)
      }),
      walks(6, 20),
    )

    async function act({ kind, who, path, limit }: Step, base: string, model: Held[]): Promise<void> {
      const credential = credentialOf(who)
      const held = model.find((each) => each.path === path)
      if (kind === 'list' || kind === 'verify') return isAsModelled(base, model, who, limit)
      if (kind === 'lock' || kind === 'at once') {
        const askers = kind === 'lock' ? [who] : [0, 1]
        const told = await Promise.all(
          askers.map((asker) => ask(say(base, { path }, { credential: credentialOf(asker) }))),
        )
        const made = told.filter(({ status }) => status === 201)
        assert.equal(made.length, held === undefined ? 1 : 0)
        for (const { status, json } of told) if (status !== 201) assert.equal(json.lock.path, path)
        for (const { json } of made) model.push({ id: json.lock.id, who: names.indexOf(json.lock.owner.name), path })
        return
      }
      const force = kind === 'force'
      const id = held?.id ?? '01a1fe8f-6777-7329-9d3f-237dcd12a10a'
      const { status } = await ask(say(`${base}/${id}/unlock`, { force }, { credential }))
      assert.equal(status, held === undefined ? 404 : held.who === who || force ? 200 : 403)
      if (status === 200)
        model.splice(
          model.findIndex((each) => each.id === id),
          1,
        )
    }

    /** Asked for in pages, by both kinds of lists. */
    async function isAsModelled(base: string, model: readonly Held[], who: number, limit: number): Promise<void> {
      const credential = credentialOf(who)
      const expected = model.toReversed().map(({ id }) => id)
      const idsOf = (locks: readonly { id: string }[]): string[] => locks.map(({ id }) => id)
      const listed: string[] = []
      const ours: string[] = []
      const theirs: string[] = []
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const more = cursor === '' ? '' : `&cursor=${cursor}`
        const { json } = await ask({ path: `${base}?limit=${limit}${more}`, credential })
        listed.push(...idsOf(json.locks))
        cursor = json.next_cursor
      }
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const { json } = await ask(say(`${base}/verify`, { limit, cursor }, { credential }))
        ours.push(...idsOf(json.ours))
        theirs.push(...idsOf(json.theirs))
        cursor = json.next_cursor
      }
      assert.deepEqual(listed, expected)
      assert.deepEqual(
        ours,
        expected.filter((id) => model.some((each) => each.id === id && each.who === who)),
      )
      assert.deepEqual(
        theirs,
        expected.filter((id) => !ours.includes(id)),
      )
    }
  })
})
