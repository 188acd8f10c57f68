import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { hour, minute } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { described, imageType, indexType, manifestOf, type Pushed, sha256, sha512 } from '../harness/images.ts'
import { imagesOverTime } from '../harness/images-over-time.ts'
import { createPerson, grant } from '../harness/people.ts'
import { inDatabase } from '../harness/rows.ts'

after(closeConnections)

const image = 'releases/kept'
const graceHours = 24

forEachEngine((engine) => {
  const over = imagesOverTime(engine)
  const { site, expect, pushBlob, pushManifest, newImage, pushImage, pass, tidy } = over
  const isThere = async (path: string, there = true): Promise<void> => {
    await expect({ method: 'HEAD', path: `/v2/${image}/${path}` }, there ? 200 : 404)
  }
  const removal = (path: string, credential = site.key) => ({
    method: 'DELETE',
    path: `/v2/${image}/${path}`,
    credential,
  })
  const layerOf = ({ text }: Pushed): string => JSON.parse(text).layers[0].digest
  const published = async (repository = 'releases'): Promise<number> => {
    const [row] = await inDatabase(site.service, (q) =>
      q.selectFrom('repositories').select('published_bytes').where('id', '=', repository).execute(),
    )
    return row?.published_bytes ?? 0
  }

  describe('deleting', () => {
    it('a tag leaves its manifest and the tags beside it', async () => {
      const manifest = await pushImage(image, 'one')
      await pushManifest(image, manifest, 'two')
      await expect(removal('manifests/one', over.token), 202)
      await isThere('manifests/one', false)
      await isThere('manifests/two')
      await isThere(`manifests/${manifest.digest}`)
      await expect(removal('manifests/one', over.token), 404, 'MANIFEST_UNKNOWN')
    })

    it('a manifest takes its tags and itself from the list of referrers, at once', async () => {
      const subject = await pushImage(image, 'subject')
      const referrer = await newImage(image, { subject: described(subject.text, imageType) })
      await pushManifest(image, referrer, 'referrer')
      await expect(removal(`manifests/${referrer.digest}`), 202)
      await isThere('manifests/referrer', false)
      await isThere(`manifests/${referrer.digest}`, false)
      const list = await expect({ path: `/v2/${image}/referrers/${subject.digest}` }, 200)
      assert.deepEqual(list.json.manifests, [])
      const tags = (await expect({ path: `/v2/${image}/tags/list` }, 200)).json.tags
      assert.ok(!tags.includes('referrer'))
      await expect(removal(`manifests/${referrer.digest}`), 404, 'MANIFEST_UNKNOWN')
    })

    it('a blob goes where no manifest names it, and is 405 where one does', async () => {
      const manifest = await pushImage(image, 'uses')
      await expect(removal(`blobs/${layerOf(manifest)}`), 405, 'UNSUPPORTED')
      await expect(removal(`blobs/${manifest.digest}`), 405, 'UNSUPPORTED')
      const { digest } = await pushBlob(image, 'used by nothing')
      await expect(removal(`blobs/${digest}`), 202)
      await isThere(`blobs/${digest}`, false)
      await expect(removal(`blobs/${digest}`), 404, 'BLOB_UNKNOWN')
    })

    it('what takes another right than the caller has is 403, and says which', async () => {
      const manifest = await pushImage(image, 'mine')
      const path = `/v2/${image}/manifests`
      for (const [reference, credential, right] of [
        [manifest.digest, over.token, 'artifact.delete'],
        ['mine', site.key, 'asset.write'],
        ['mine', site.reader.token, 'asset.write'],
      ] as const) {
        const asked = { method: 'DELETE', path: `${path}/${reference}`, credential }
        const told = await expect(
          { ...asked, credential: credential === site.owner.token ? over.token : credential },
          403,
          'DENIED',
        )
        assert.match(told.text, new RegExp(right))
      }
      await isThere('manifests/mine')
    })

    it('is told by the journal, as pushes and tags are', async () => {
      const manifest = await pushImage('releases/told', 'v1')
      await pushImage('releases/told', 'v1')
      const base = '/v2/releases/told'
      await expect({ method: 'DELETE', path: `${base}/manifests/v1` }, 202)
      await expect({ method: 'DELETE', path: `${base}/manifests/${manifest.digest}`, credential: site.key }, 202)
      const lines = await inDatabase(site.service, (q) =>
        q
          .selectFrom('journal')
          .select(['action', 'detail', 'actor'])
          .where('detail', 'like', 'told%')
          .orderBy('sequence')
          .execute(),
      )
      assert.deepEqual(
        lines.map(({ action }) => action),
        ['image.push', 'tag.set', 'image.push', 'tag.set', 'tag.remove', 'image.delete'],
      )
      assert.deepEqual([lines[0]?.detail, lines[1]?.detail], [`told@${manifest.digest}`, 'told:v1'])
      assert.match(String(lines.at(-1)?.actor), /^service-account:/)
      const moves = await inDatabase(site.service, (q) =>
        q
          .selectFrom('oci_tag_moves')
          .select(['revision', 'removed'])
          .where('name', '=', 'told')
          .orderBy('revision')
          .execute(),
      )
      // The first of them went with its manifest.
      assert.deepEqual(moves, [
        { revision: 2, removed: 0 },
        { revision: 3, removed: 1 },
      ])
    })
  })

  describe('mounting', () => {
    const mount = (digest: string, query: string, status: number, to = 'second/mounted') =>
      expect({ method: 'POST', path: `/v2/${to}/blobs/uploads/?mount=${digest}${query}` }, status)

    it('makes a blob of one repository one of another, by either digest, and counts it there', async () => {
      const bytes = randomBytes(100_000)
      for (const digest of [sha256(bytes), sha512(bytes)]) {
        await pushBlob(image, bytes, digest)
        const before = await published('second')
        const told = await mount(digest, `&from=${image}&origin=registry.example`, 201)
        assert.equal(told.headers.location, `/v2/second/mounted/blobs/${digest}`)
        assert.equal(told.headers['docker-content-digest'], digest)
        assert.ok((await expect({ path: `/v2/second/mounted/blobs/${digest}` }, 200)).bytes.equals(bytes))
        assert.equal((await published('second')) - before, digest.startsWith('sha256') ? 100_000 : 0)
      }
    })

    it('finds a blob that the caller may read, also where nobody says where', async () => {
      const { digest } = await pushBlob(image, randomBytes(1000))
      await mount(digest, '', 201)
      await mount(sha256('nobody has it'), '', 202)
    })

    it('is an upload where it cannot be, whatever the reason', async () => {
      const there = await pushBlob(image, randomBytes(1000))
      // It is there for those alone who may read the repository, and pulled from nowhere else.
      await expect({ path: `/v2/second/never-mounted/blobs/${there.digest}` }, 404, 'BLOB_UNKNOWN')
      const bytes = 'not to be mounted'
      await mount(sha256(bytes), `&from=${image}`, 202)
      await mount(there.digest, '&from=nowhere/x', 202)
      const hidden = randomBytes(500)
      await site.expect(
        {
          method: 'POST',
          path: `/v2/second/x/blobs/uploads/?digest=${sha256(hidden)}`,
          credential: over.token,
          body: hidden,
        },
        201,
      )
      const told = await site.service.ask({
        method: 'POST',
        path: `/v2/releases/x/blobs/uploads/?mount=${sha256(hidden)}&from=second/x`,
        credential: site.reader.token,
      })
      assert.equal(told.status, 403)
      // Whoever may push here and not read there is told the same of what is there and of what is not.
      const writer = await createPerson(site.service, `mounting-${engine.name}`)
      await grant(site.service, writer, 'releases', 'write')
      for (const digest of [sha256(hidden), sha256('nobody has this')])
        for (const from of ['&from=second/x', '&from=nothing/x', '']) {
          const path = `/v2/releases/x/blobs/uploads/?mount=${digest}${from}`
          const { headers } = await expect({ method: 'POST', path, credential: writer.token }, 202)
          assert.equal(headers['docker-content-digest'], undefined)
          assert.match(String(headers.location), /^\/v2\/releases\/x\/blobs\/uploads\/[0-9a-f-]{36}$/)
        }
      const begun = await mount(sha256(bytes), `&from=${image}`, 202)
      await expect({ method: 'PUT', path: `${begun.headers.location}?digest=${sha256(bytes)}`, body: bytes }, 201)
    })
  })

  describe('time', () => {
    it('takes a blob that no manifest names after an hour, and its bytes', async () => {
      const bytes = randomBytes(50_000)
      const { digest } = await pushBlob(image, bytes)
      const kept = await pushImage(image, 'stays')
      await pass(59 * minute)
      await tidy()
      await isThere(`blobs/${digest}`)
      // Somebody counts on it again.
      await pushBlob(image, bytes)
      await pass(2 * minute)
      await tidy()
      await isThere(`blobs/${digest}`)
      const before = await published()
      await pass(hour)
      await tidy()
      await isThere(`blobs/${digest}`, false)
      assert.ok(before - (await published()) >= 50_000)
      await isThere(`blobs/${layerOf(kept)}`)
      const [row] = await inDatabase(site.service, (q) =>
        q.selectFrom('blobs').select('sha256').where('sha256', '=', digest.slice(7)).execute(),
      )
      assert.equal(row, undefined)
    })

    it('takes a manifest that nothing keeps after the grace period, with what only it kept', async () => {
      const lone = await newImage(image)
      await pushManifest(image, lone, lone.digest)
      const moved = await pushImage(image, 'moving')
      const shared = manifestOf({
        ...JSON.parse((await pushImage(image, 'moving')).text),
        annotations: { again: 'yes' },
      })
      await pushManifest(image, shared, 'shared')
      await pass(23 * hour)
      await tidy()
      for (const { digest } of [lone, moved]) await isThere(`manifests/${digest}`)
      await pass(2 * hour)
      await tidy()
      for (const { digest } of [lone, moved]) await isThere(`manifests/${digest}`, false)
      await isThere('manifests/moving')
      await pass(61 * minute)
      await tidy()
      for (const gone of [lone, moved]) await isThere(`blobs/${layerOf(gone)}`, false)
      await isThere(`blobs/${layerOf(shared)}`)
    })

    it('keeps a manifest that is pushed again as long as a new one', async () => {
      const lone = await newImage(image)
      await pushManifest(image, lone, lone.digest)
      await pass(23 * hour)
      await pushManifest(image, lone, lone.digest)
      await pass(23 * hour)
      await tidy()
      await isThere(`manifests/${lone.digest}`)
      await pass(2 * hour)
      await tidy()
      await isThere(`manifests/${lone.digest}`, false)
    })

    it('keeps what refers to a manifest by its SHA-512, from when somebody calls it so', async () => {
      const subject = await newImage(image)
      await pushManifest(image, subject, 'subject-of')
      const by512 = described(subject.text, imageType, sha512(subject.text))
      const signature = await newImage(image, { subject: by512 })
      await pushManifest(image, signature, signature.digest)
      await pushManifest(image, subject, by512.digest)
      await over.inspection.inOrder()
      await pass(25 * hour)
      await tidy()
      await isThere(`manifests/${signature.digest}`)
    })

    it('keeps what an index lists and what refers to something, for as long as that is kept', async () => {
      const children = [await newImage(image), await newImage(image)]
      for (const child of children) await pushManifest(image, child, child.digest)
      const index = manifestOf({ manifests: children.map(({ text }) => described(text, imageType)) }, indexType)
      await pushManifest(image, index, 'index')
      const signature = await newImage(image, { subject: described(index.text, indexType) })
      await pushManifest(image, signature, signature.digest)
      const all = [index, ...children, signature]
      await pass(100 * hour)
      await tidy()
      for (const { digest } of all) await isThere(`manifests/${digest}`)
      await expect(removal('manifests/index', over.token), 202)
      await pass(23 * hour)
      await tidy()
      for (const { digest } of all) await isThere(`manifests/${digest}`)
      await pass(2 * hour)
      await tidy()
      for (const { digest } of all) await isThere(`manifests/${digest}`, false)
    })

    it('keeps what refers to something by its SHA-512, though it was pushed by a tag', async () => {
      const subject = await pushImage(image, 'signed')
      const signature = await newImage(image, { subject: described(subject.text, imageType, sha512(subject.text)) })
      await pushManifest(image, signature, signature.digest)
      await pass(100 * hour)
      await tidy()
      for (const { digest } of [subject, signature]) await isThere(`manifests/${digest}`)
      await expect(removal(`manifests/${subject.digest}`), 202)
      await pass(100 * hour)
      await tidy()
      await isThere(`manifests/${signature.digest}`, false)
    })

    it('keeps what refers to something by a digest that it is called by later', async () => {
      const subject = await newImage(image)
      const named = described(subject.text, imageType, sha512(subject.text))
      const referrer = await newImage(image, { subject: named })
      await pushManifest(image, referrer, referrer.digest)
      await pushManifest(image, subject, 'subject-by-both')
      await pushManifest(image, subject, named.digest)
      await pass(graceHours * hour)
      await tidy()
      await isThere(`manifests/${referrer.digest}`)
      const list = await expect({ path: `/v2/${image}/referrers/${named.digest}` }, 200)
      assert.equal(list.json.manifests.length, 1)
    })

    it('takes the grace period of the repository', async () => {
      const lone = await newImage(image)
      await pushManifest(image, lone, lone.digest)
      await inDatabase(site.service, (q) =>
        q.updateTable('repositories').set({ grace_hours: 2 }).where('id', '=', 'releases').execute(),
      )
      await pass(3 * hour)
      await tidy()
      await isThere(`manifests/${lone.digest}`, false)
    })

    it('leaves everything in order', async () => {
      await over.inspection.inOrder()
    })
  })
})
