import type { Catalog } from './catalog.ts'
import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { npmPublisher, publishAttested } from './npm-packages.ts'
import { cacheRichNpmPackages } from './rich-npm-upstream.ts'

/**
 * Something of everything about npm packages, in the repository of a catalog: a package with a scope, tags and an
 * attestation, versions that are deprecated and deleted, a star, stages, promotions to `two`, and a package without a
 * version. Answers questions about it, by the ids of operations.
 */
export const publishRichNpmPackages = async (catalog: Catalog): Promise<Record<string, Ask[]>> => {
  const { service, writer, keeper, repository } = catalog
  const npm = npmPublisher(service, writer.token, repository)
  const name = '@acme/app'
  const path = npm.at('/@acme%2fapp')
  await publishAttested(npm, { name, version: '1.0.0', readme: '# ü', keywords: ['rich'] }, 'stable')
  await npm.publish({ name, version: '1.1.0' })
  await npm.publish({ name, version: '1.2.0' })
  const document = (await npm.document(name)).json
  document.versions['1.1.0'].deprecated = 'use 1.2.0'
  await npm.expect({ method: 'PUT', path, json: document }, 200)
  await npm.expect({ method: 'PUT', path, json: { _id: name, users: { [writer.name]: true } } }, 200)
  await npm.publish({ name: 'gone', version: '1.0.0' })
  const remove = async (file: string) =>
    expectAnswer(service, { method: 'DELETE', path: npm.at(`${file}/-rev/0`), credential: keeper }, 200)
  await remove('/@acme%2fapp/-/app-1.2.0.tgz')
  await remove('/gone/-/gone-1.0.0.tgz')
  const interfaced = `/api/v1/repositories/${repository}/npm`
  const first = { package: name, version: '1.0.0' }
  for (const stage of ['tested', 'approved'])
    await npm.expect({ method: 'PUT', path: `${interfaced}/stages/${stage}`, json: { ...first, comment: 'ü' } }, 200)
  await npm.publish({ name: 'moved', version: '1.0.0' })
  for (const wish of [
    { ...first, tags: ['released'], stages: ['released'], comment: 'as it is' },
    { package: 'moved', version: '1.0.0', mode: 'move' },
  ])
    await npm.expect({ path: `${interfaced}/promote`, json: { ...wish, target: 'two' } }, 201)
  const asked = (given: string, headers: Record<string, string> = {}): Ask => ({
    path: npm.at(given),
    credential: writer.token,
    headers,
  })
  const listed = (given: string): Ask => ({
    path: `${interfaced}/${given}`,
    credential: writer.token,
  })
  const named = 'package=@acme/app'
  const outside = await cacheRichNpmPackages(catalog)
  const own: Record<string, Ask[]> = {
    listNpmPackages: [listed('packages'), listed('packages?contains=ACME&limit=1')],
    listNpmVersions: [listed(`versions?${named}`), listed(`versions?${named}&limit=1`)],
    listDeletedNpmVersions: [listed(`versions/deleted?${named}`)],
    getNpmVersion: [listed(`version?${named}&version=1.1.0`)],
    explainNpmVersion: [listed(`explain?${named}&version=1.1.0`)],
    getNpmRegistry: [asked(''), asked('/')],
    listNpmStages: [listed('stages'), listed('stages?stage=tested'), listed(`stages?${named}&version=1.0.0&limit=1`)],
    listNpmPromotions: [listed(`promotions?${named}&version=1.0.0`)],
    getPackument: [
      asked('/@acme%2fapp'),
      asked('/@acme/app', { accept: 'application/vnd.npm.install-v1+json' }),
      asked('/@acme%2Fapp?write=true'),
    ],
    getNpmManifest: ['1.0.0', 'latest', 'stable'].map((called) => asked(`/@acme%2fapp/${called}`)),
    getNpmTarball: [asked('/@acme/app/-/app-1.0.0.tgz')],
    getNpmVisibility: [asked('/-/package/@acme%2fapp/visibility')],
    listNpmCollaborators: [asked('/-/package/@acme%2fapp/collaborators')],
    listDistTags: [asked('/-/package/@acme%2fapp/dist-tags')],
    searchNpmPackages: [asked('/-/v1/search'), asked('/-/v1/search?text=rich&size=1')],
    getAttestations: [asked('/-/npm/v1/attestations/@acme%2fapp@1.0.0')],
    pingNpmRegistry: [asked('/-/ping')],
    getNpmWhoami: [asked('/-/whoami')],
    getNpmUser: [asked(`/-/user/org.couchdb.user:${writer.name}`)],
    getNpmProfile: [asked('/-/npm/v1/user')],
    listNpmTokens: [asked('/-/npm/v1/tokens')],
  }
  const ids = new Set([...Object.keys(own), ...Object.keys(outside)])
  return Object.fromEntries([...ids].map((id) => [id, [...(own[id] ?? []), ...(outside[id] ?? [])]]))
}
