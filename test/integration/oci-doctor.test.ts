import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { timestamp } from '../../src/kernel/clock.ts'
import { day } from '../../src/kernel/units.ts'
import { closeConnections } from '../harness/client.ts'
import { forEachEngine } from '../harness/engines.ts'
import { described, imageSite, imageType, indexType, manifestOf, sha256 } from '../harness/images.ts'
import { type Inspection, openInspection } from '../harness/inspection.ts'

after(closeConnections)

/** What somebody wrote past the service of the manifest `?`, and what the doctor says of it. */
const wrong: readonly (readonly [what: string, statement: string, said: RegExp])[] = [
  [
    'a type that no manifest has',
    "update oci_manifests set media_type = 'text/html' where id = ?",
    /of a type that no manifest has/,
  ],
  [
    'another type',
    `update oci_manifests set media_type = '${indexType}' where id = ?`,
    /of another type than its bytes say/,
  ],
  [
    'another subject',
    `update oci_manifests set subject = '${sha256('x')}' where id = ?`,
    /refer to something else than its bytes say/,
  ],
  ['no subject', 'update oci_manifests set subject = null where id = ?', /refer to something else than its bytes say/],
  [
    'another type of artifact',
    "update oci_manifests set artifact_type = 'a/b' where id = ?",
    /an artifact of another type than its bytes say/,
  ],
  ['fewer bytes', 'update oci_manifests set content_bytes = 1 where id = ?', /takes? more or less than what it names/],
  [
    'one name less',
    "delete from oci_references where role = 'layer' and manifest_id = ?",
    /name something else than its bytes say/,
  ],
  [
    'another name',
    `update oci_references set digest = '${sha256('y')}' where role = 'layer' and manifest_id = ?`,
    /name something else than its bytes say/,
  ],
  [
    'a layer that it is without',
    "update oci_references set blob_id = null where role = 'layer' and manifest_id = ?",
    /is without bytes that it needs/,
  ],
]

forEachEngine((engine) => {
  const site = imageSite(engine, { roles: { gateway: 'api', worker: false } })
  const { expect, pushBlob, pushImage, pushManifest, newImage } = site
  let inspection: Inspection
  before(async () => {
    inspection = await openInspection(site.service)
  })
  after(() => inspection.close())
  const damage = async (): Promise<string[]> => (await inspection.findings()).damage

  describe('the doctor', () => {
    it('finds that images are as their bytes say, also what is listed, signed or lies elsewhere', async () => {
      const image = await pushImage('releases/whole', 'v1')
      const index = manifestOf({ manifests: [described(image.text, imageType)] }, indexType)
      await pushManifest('releases/whole', index, 'index')
      const signature = await newImage('releases/whole', { subject: described(index.text, indexType) })
      await pushManifest('releases/whole', signature, signature.digest)
      const config = await pushBlob('releases/whole', '{}')
      const layers = [{ ...config, digest: sha256('far'), size: 3, urls: ['https://example.org'] }, config]
      await pushManifest('releases/whole', manifestOf({ config, layers }), 'far')
      assert.deepEqual(await damage(), [])
      const path = `/v2/releases/whole/manifests/${image.digest}`
      await expect({ method: 'DELETE', path, credential: site.key }, 202)
      assert.deepEqual(await damage(), [])
    })

    for (const [what, statement, said] of wrong)
      it(`opens manifests, and finds that one is said to have ${what}`, async () => {
        const name = randomBytes(8).toString('hex')
        const manifest = await pushImage(`releases/${name}`, 'v1', { subject: described('s', imageType) })
        const { id } = await inspection.database.reader
          .selectFrom('oci_manifests')
          .select('id')
          .where('digest', '=', manifest.digest)
          .executeTakeFirstOrThrow()
        const before = new Set(await damage())
        await inspection.database.transaction((tx) => sql.raw(statement.replace('?', `'${id}'`)).execute(tx))
        const found = (await damage()).filter((text) => !before.has(text))
        const expected = `repository releases: the manifest ${id} of ${name} is `
        assert.ok(
          found.some((text) => text.startsWith(expected) && said.test(text)),
          `${said} is none of\n${found.join('\n')}`,
        )
      })

    it('puts right what would stay for ever, since it is unused from a time that is still to come', async () => {
      const lone = await newImage('releases/ahead')
      await pushManifest('releases/ahead', lone, lone.digest)
      await pushBlob('releases/ahead', 'named by nothing')
      const q = inspection.database
      const ahead = () =>
        q.transaction(async (tx) => {
          const later = timestamp(site.service.clock.now() + 2 * day)
          for (const table of ['oci_blobs', 'oci_manifests'] as const)
            await tx.updateTable(table).set({ unused_since: later }).where('unused_since', 'is not', null).execute()
        })
      await ahead()
      assert.ok((await damage()).filter((text) => text.includes('would stay for ever')).length >= 2)
      await inspection.mend()
      assert.ok((await damage()).every((text) => !text.includes('would stay for ever')))
    })
  })
})
