import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import fc from 'fast-check'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { expectAnswer } from '../harness/expect.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { createOwner, createPerson, createRepository, grant, type Person } from '../harness/people.ts'
import { newFile, publish } from '../harness/publishing.ts'
import { startService, type TestService } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'

const repository = 'modelled'
const base = `/api/v1/repositories/${repository}`
/** More than two pages at first; nothing is lost for good. */
const atFirst = 230
const pageItems = 100

after(closeConnections)

interface Words {
  readonly labels: string[]
  readonly metadata: Record<string, string>
  readonly collections: string[]
}

interface File extends Words {
  readonly id: string
  readonly name: string
  readonly revision: number
  readonly deleted: boolean
}

interface Filters {
  readonly q?: string
  readonly label?: string
  readonly collection?: string
  readonly metadataKey?: string
  readonly metadataValue?: string
}

/** Case does odd things to these, SQL minds them, they combine, or they have more than one UTF-16 unit. */
const letters = 'aAbBsSßẞﬁFiIİıΣσςéÉe\u0301\u0345ᾳǅǆµK%_\\\'"*()^ .-🎉𐐀𐐨漢'
const letter = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...'abAB') },
  { weight: 2, arbitrary: fc.constantFrom(...letters) },
)
const textUpTo = (maxLength: number) => fc.array(letter, { minLength: 1, maxLength }).map((parts) => parts.join(''))
const label = fc.constantFrom('a', 'A', 'ß', 'ss', '%', 'long label')
const collection = fc.constantFrom('a', 'A', 'team:x')
const key = fc.constantFrom('k', 'K', 'k.k', 'constructor')
const value = fc.oneof(fc.constantFrom('', 'v', 'V'), textUpTo(12))
const words: fc.Arbitrary<Words> = fc.record({
  labels: fc.array(label, { maxLength: 3 }),
  metadata: fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true }),
  collections: fc.array(collection, { maxLength: 2 }),
})

const filters: fc.Arbitrary<Filters> = fc
  .record({
    q: fc.option(fc.oneof(textUpTo(2), textUpTo(5)), { nil: undefined, freq: 4 }),
    label: fc.option(label, { nil: undefined, freq: 1 }),
    collection: fc.option(collection, { nil: undefined, freq: 1 }),
    pair: fc.option(fc.tuple(key, value), { nil: undefined, freq: 1 }),
  })
  .map(({ pair, ...others }) => ({
    ...Object.fromEntries(Object.entries(others).filter(([, given]) => given !== undefined)),
    ...(pair === undefined ? {} : { metadataKey: pair[0], metadataValue: pair[1] }),
  }))

type Change =
  | { readonly kind: 'publish'; readonly name: string; readonly words: Words }
  | { readonly kind: 'annotate'; readonly which: number; readonly words: Words }
  | { readonly kind: 'delete' | 'restore'; readonly which: number }

const which = fc.nat()
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('publish' as const), name: textUpTo(8), words }),
  fc.record({ kind: fc.constant('annotate' as const), which, words }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'restore' as const), which }),
)

/** What the documents call folding, once more in plain words. */
const folded = (text: string): string =>
  [...text].map((character) => character.toLowerCase().toUpperCase().toLowerCase()).join('')

const matches = (file: File, { q, label, collection, metadataKey, metadataValue }: Filters): boolean =>
  !file.deleted &&
  (q === undefined || [file.name, ...Object.values(file.metadata)].some((text) => folded(text).includes(folded(q)))) &&
  (label === undefined || file.labels.includes(label)) &&
  (collection === undefined || file.collections.includes(collection)) &&
  (metadataKey === undefined ||
    Object.entries(file.metadata).some(([k, v]) => k === metadataKey && v === metadataValue))

forEachEngine((engine) => {
  let service: TestService
  let inspection: Inspection
  let writer: Person
  let keeper: string
  const files: File[] = []
  before(async () => {
    service = await startService(engine, { roles: { gateway: 'api', worker: false } })
    inspection = await openInspection(service)
    await createOwner(service)
    await createRepository(service, repository)
    writer = await createPerson(service, 'writer')
    await grant(service, writer, repository, 'write')
    const bindings = [binding(repository, 'artifact.delete')]
    const account = await createServiceAccount(service, bindings)
    keeper = (await activeKey(service, account.id, { bindings })).secret
    const seeds = fc.sample(fc.record({ name: textUpTo(8), words }), { numRuns: atFirst, seed: 1 })
    for (const { name, words } of seeds) await apply({ kind: 'publish', name, words })
  })
  after(async () => {
    await inspection.close()
    await service.stop()
  })

  const apply = async (wanted: Change): Promise<void> => {
    if (wanted.kind === 'publish') {
      const { name, words } = wanted
      const { labels, metadata } = words
      const id = await publish(service, writer.token, repository, newFile(name, 'shared', { labels, metadata }))
      files.push({ id, name, ...words, collections: [], revision: 0, deleted: false })
      return
    }
    const place = wanted.which % files.length
    const file = files[place]
    if (file === undefined || file.deleted !== (wanted.kind === 'restore')) return
    const path = `${base}/artifacts/${file.id}`
    if (wanted.kind === 'annotate') {
      const json = { expectedRevision: file.revision, value: wanted.words }
      await expectAnswer(service, { method: 'PUT', path: `${path}/annotations`, credential: writer.token, json }, 200)
      files[place] = { ...file, ...wanted.words, revision: file.revision + 1 }
      return
    }
    const request =
      wanted.kind === 'delete'
        ? { method: 'DELETE', path, json: { expectedAnnotationRevision: file.revision } }
        : { method: 'POST', path: `${path}/restore` }
    await expectAnswer(service, { ...request, credential: keeper }, 200)
    files[place] = { ...file, deleted: wanted.kind === 'delete' }
  }

  const checkEveryPage = async (asked: Filters, changes: readonly Change[]): Promise<void> => {
    const left = changes.values()
    for (let after: string | null = null; ; ) {
      const parameters = new URLSearchParams({ ...asked, ...(after === null ? {} : { after }) })
      const path = `${base}/search?${parameters}`
      const { items, next } = (await expectAnswer(service, { path, credential: writer.token }, 200)).json
      const expected = files
        .filter((file) => file.id > (after ?? '') && matches(file, asked))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const shown = expected.slice(0, pageItems)
      assert.deepEqual(
        items.map(({ id, name, labels }: File) => ({ id, name, labels })),
        shown.map(({ id, name, labels }) => ({ id, name, labels })),
        path,
      )
      assert.equal(next, expected.length > pageItems ? shown.at(-1)?.id : null)
      if (next === null) return
      after = String(next)
      const changed = left.next()
      if (changed.done !== true) await apply(changed.value)
    }
  }

  it('a search finds what a look at every file finds, page by page, while files come, go and are described anew', async () => {
    const round = fc.record({
      changes: fc.array(change, { maxLength: 4 }),
      between: fc.array(change, { maxLength: 3 }),
      asked: fc.array(filters, { minLength: 4, maxLength: 10 }),
    })
    await fc.assert(
      fc.asyncProperty(round, async ({ changes, between, asked }) => {
        for (const each of changes) await apply(each)
        for (const each of asked) await checkEveryPage(each, between)
      }),
      // What a round finds depends on those before it, so that a smaller one would say nothing.
      { numRuns: 40, endOnFailure: true },
    )
    for (const each of [{}, { q: '' }, { q: 'a' }, { label: 'a' }]) await checkEveryPage(each, [])
    await inspection.inOrder()
  })
})
