import { randomBytes } from 'node:crypto'
import type { Catalog } from './catalog.ts'
import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { described, imageType, indexType, manifestOf, pusher, sha512 } from './images.ts'

/**
 * Something of everything about images, in the repository of a catalog: an index of two of them, a signature, tags that
 * were moved and taken away, some that are immutable, a manifest without a tag, a layer that lies elsewhere, and a blob
 * that nothing names. Answers questions about it, by the ids of operations.
 */
export const pushRichImages = async ({
  service,
  writer,
  repository,
  keeper,
}: Catalog): Promise<Record<string, Ask[]>> => {
  const credential = writer.token
  const expect = (given: Ask, status: number) => expectAnswer(service, { credential, ...given }, status)
  const { pushBlob, pushManifest, newImage, pushImage } = pusher(expect)
  const image = `${repository}/team/app`
  const first = await pushImage(image, 'moved')
  const layer = randomBytes(600_000)
  const elsewhere = { ...described('x', 'application/vnd.oci.image.layer.nondistributable.v1.tar'), urls: ['http://x'] }
  const config = JSON.stringify({ architecture: 'arm64', os: 'linux' })
  const layers = [await pushBlob(image, layer, sha512(layer)), elsewhere]
  const second = manifestOf({ config: await pushBlob(image, config), layers })
  await pushManifest(image, second, 'moved')
  const children = [first, second].map(({ text }) => described(text, imageType))
  const index = manifestOf({ manifests: children }, indexType)
  await pushManifest(image, index, `${index.digest}?tag=v1&tag=gone`)
  await expect({ method: 'DELETE', path: `/v2/${image}/manifests/gone` }, 202)
  const signature = await newImage(image, {
    artifactType: 'application/vnd.example.signature',
    subject: described(index.text, indexType),
    annotations: { 'org.example.key': 'ü' },
  })
  await pushManifest(image, signature, signature.digest)
  const untagged = await newImage(image)
  await pushManifest(image, untagged, untagged.digest)
  await pushBlob(image, 'named by nothing')
  await pushImage(`${repository}/other`, 'latest')
  const images = `/api/v1/repositories/${repository}/images`
  for (const [stage, reference] of [
    ['tested', 'v1'],
    ['approved', 'v1'],
    ['tested', 'moved'],
  ])
    await expect({ method: 'PUT', path: `${images}/stages/${stage}`, json: { image: 'team/app', reference } }, 200)
  const staged = await newImage(image)
  await pushManifest(image, staged, staged.digest)
  const onStage = { image: 'team/app', reference: staged.digest }
  await expect({ method: 'PUT', path: `${images}/stages/kept`, json: onStage }, 200)
  await pushImage(`${repository}/moved`, 'v1')
  const immutable = `/api/v1/repositories/${repository}/images/immutable-tags`
  const patterns = { expectedRevision: 0, patterns: ['release-*', 'final'] }
  await expect({ method: 'PUT', path: immutable, credential: keeper, json: patterns }, 200)
  const wanted = { image: 'team/app', target: 'two', stages: ['released'] }
  for (const wish of [
    { reference: 'v1', comment: 'as it is' },
    { reference: 'moved', mode: 'copy', targetImage: 'copied', tags: ['a', 'b'] },
  ])
    await expect({ path: `${images}/promote`, json: { ...wanted, ...wish } }, 201)
  await expect(
    { path: `${images}/promote`, json: { image: 'moved', reference: 'v1', target: 'two', mode: 'move' } },
    201,
  )
  const asked = (path: string): Ask => ({ path, credential })
  const listed = (path: string): Ask => asked(images + path)
  const named = 'image=team/app'
  return {
    getRegistryVersion: [asked('/v2/')],
    listImages: [asked('/v2/_catalog'), asked('/v2/_catalog?n=1')],
    listTags: [asked(`/v2/${image}/tags/list`), asked(`/v2/${image}/tags/list?n=1&last=moved`)],
    getManifest: ['v1', 'moved', untagged.digest].map((reference) => asked(`/v2/${image}/manifests/${reference}`)),
    getBlob: layers.slice(0, 1).map(({ digest }) => asked(`/v2/${image}/blobs/${digest}`)),
    getImmutableTags: [asked(immutable)],
    explainImage: ['v1', signature.digest].map((reference) =>
      asked(`/api/v1/repositories/${repository}/images/explain?image=team/app&reference=${reference}`),
    ),
    listRepositoryImages: [listed(''), listed('?limit=1'), listed('?contains=TEAM')],
    listImageTags: ['', '&order=newest', '&contains=V1&limit=1'].map((more) => listed(`/tags?${named}${more}`)),
    listRemovedTags: [listed(`/tags/removed?${named}`)],
    listTagMoves: ['moved', 'gone'].map((tag) => listed(`/tag-moves?${named}&tag=${tag}`)),
    getImageManifest: ['v1', 'moved', signature.digest, untagged.digest].map((reference) =>
      listed(`/manifest?${named}&reference=${reference}`),
    ),
    listImageReferrers: [listed(`/referrers?${named}&digest=${index.digest}`)],
    listReferrers: [asked(`/v2/${image}/referrers/${index.digest}`)],
    listImagePromotions: [
      asked(`${images}/promotions?image=team/app&reference=v1`),
      asked('/api/v1/repositories/two/images/promotions?image=copied&reference=a&order=desc'),
    ],
    listImageStages: ['', '?stage=tested', '?image=team/app&reference=v1'].map((query) =>
      asked(`${images}/stages${query}`),
    ),
  }
}
