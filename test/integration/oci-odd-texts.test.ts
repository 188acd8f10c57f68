import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine, onPostgres, onSqlite } from '../harness/engines.ts'
import { configType, described, imageSite, imageType, indexType, manifestOf, sha256 } from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'
import { exportFrom, freshFolder, importTo, placeLike } from '../harness/moving.ts'
import { addPackage } from '../harness/packages.ts'

after(closeConnections)

const image = 'releases/odd'

/** Texts that JSON can write and one of the engines cannot hold. */
const unheld = { 'a zero character': 'a/b\0', 'half of a pair': 'a/b\ud800', 'the other half': '\udfffa/b' } as const

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushManifest } = site
  let inspection: Inspection
  before(async () => {
    inspection = await openInspection(site.service)
    await pushBlob(image, '{}')
  })
  after(() => inspection.close())

  const config = described('{}', configType)
  const subject = described('what it is about', imageType)
  const refused = async (fields: object, type?: string): Promise<void> => {
    const manifest = manifestOf({ layers: type === undefined ? [] : undefined, ...fields }, type)
    const told = await pushManifest(image, manifest, 'odd', 400)
    assert.equal(told.json.errors[0].code, 'MANIFEST_INVALID', told.text)
    await expect({ path: `/v2/${image}/manifests/${manifest.digest}` }, 404)
  }

  describe('a manifest with a text that not every engine holds', () => {
    for (const [what, text] of Object.entries(unheld))
      it(`is refused: ${what} in a media type, or in an annotation`, async () => {
        await refused({ config, artifactType: text })
        await refused({ config: { ...config, mediaType: text } })
        await refused({ manifests: [], artifactType: text }, indexType)
        for (const annotations of [{ a: text }, { [text]: 'a' }]) {
          await refused({ config, annotations })
          await refused({ config, annotations, subject })
        }
      })

    it('is refused with a control character in a media type', async () => {
      for (const text of ['a/b\n', '\u0001', 'a/b\u007f']) await refused({ config, artifactType: text })
    })

    it('is taken with everything else that an annotation may say, and told of as it is', async () => {
      const annotations = { 'two\nlines': 'a\tb\u0001', '\\u0000': '\\ud800', 'a 😀': '😀\uffff' }
      const manifest = manifestOf({ config, layers: [], annotations, subject })
      await pushManifest(image, manifest, 'fine')
      const told = await expect({ path: `/v2/${image}/referrers/${subject.digest}` }, 200)
      assert.deepEqual(JSON.parse(told.text).manifests[0].annotations, annotations)
    })

    it("may have such a text in its config, which is nobody's platform", async () => {
      const odd = await pushBlob(image, JSON.stringify({ os: 'lin\0ux', architecture: 'a\ud800' }))
      await pushManifest(image, manifestOf({ config: { ...odd, mediaType: configType }, layers: [] }), 'platform')
    })
  })

  it('a mount from what can be no repository begins an upload', async () => {
    for (const from of ['%00', 'a%00', '%F0%9F%98%80']) {
      const path = `/v2/${image}/blobs/uploads/?mount=${sha256('not here')}&from=${from}`
      await expect({ method: 'POST', path }, 202)
    }
  })

  it('a package keeps such texts in its manifest, as they were written', async () => {
    const manifest = {
      name: 'odd',
      version: '1.0.0',
      summary: unheld['a zero character'],
      title: unheld['half of a pair'],
    }
    await addPackage(site.service, site.owner.token, 'releases', manifest)
    const told = await expect({ path: '/api/v1/repositories/releases/packages/resolve?name=odd' }, 200)
    assert.equal(told.json.version, '1.0.0')
    const listed = await expect({ path: '/api/v1/repositories/releases/packages?name=odd' }, 200)
    assert.deepEqual(listed.json.items[0].manifest, manifest)
  })

  it('leaves everything in order', async () => {
    await inspection.inOrder()
  })
})

onSqlite((sqlite) =>
  onPostgres((postgres) => {
    const site = imageSite(sqlite, { roles: { gateway: 'api', worker: false } })

    it('a row that PostgreSQL cannot hold is named before anything is imported there', async () => {
      await site.pushImage(image, 'v1')
      const inspection = await openInspection(site.service)
      const say = (artifact_type: string) =>
        inspection.database.transaction(async (tx) => {
          await tx.updateTable('oci_manifests').set({ artifact_type }).execute()
          return tx.selectFrom('oci_manifests').select('id').executeTakeFirstOrThrow()
        })
      const { id } = await say('a/b\0')
      const place = await placeLike(site.service, postgres)
      const folders = [await freshFolder(), await freshFolder()] as const
      await exportFrom(site.service, folders[0])
      await assert.rejects(
        importTo(place, folders[0]),
        new RegExp(`oci_manifests: artifact_type of ${id} has a zero character.* Nothing was imported`),
      )
      await say(configType)
      await exportFrom(site.service, folders[1])
      const { findings } = await importTo(place, folders[1])
      assert.deepEqual(
        findings.filter(({ kind }) => kind === 'damage'),
        [],
      )
      await inspection.close()
      await place[Symbol.asyncDispose]()
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    })
  }),
)
