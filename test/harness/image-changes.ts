import type { Ask } from './client.ts'
import { expectAnswer } from './expect.ts'
import { indexType, manifestOf, pusher, sha256 } from './images.ts'
import type { Answering } from './service.ts'

interface Place {
  readonly service: Answering
  readonly credential: string
  readonly repository: string
}

/** A request for each operation that changes images, by its id: each succeeds, whatever the others did before. */
export const changesOfImages = async ({ service, credential, repository }: Place): Promise<Record<string, Ask>> => {
  const expect = (given: Ask, status: number) => expectAnswer(service, { credential, ...given }, status)
  const { pushBlob, pushManifest } = pusher(expect)
  const image = `${repository}/some/image`
  const uploads = `/v2/${image}/blobs/uploads/`
  const begun = async () => String((await expect({ method: 'POST', path: uploads }, 202)).headers.location)
  const unwanted = await pushBlob(image, 'an unwanted blob')
  const index = manifestOf({ manifests: [] }, indexType)
  await pushManifest(image, index, 'unwanted')
  const images = `/api/v1/repositories/${repository}/images`
  await pushManifest(image, manifestOf({ manifests: [], annotations: { staged: 'yes' } }, indexType), 'staged')
  const staged = { image: 'some/image', reference: 'staged' }
  await expect({ method: 'PUT', path: `${images}/stages/tested`, json: staged }, 200)
  await pushManifest(image, index, 'unneeded')
  const deleted = manifestOf({ manifests: [], annotations: { wanted: 'no' } }, indexType)
  await pushManifest(image, deleted, deleted.digest)
  const named = 'image=some/image'
  return {
    beginBlob: { method: 'POST', path: uploads, credential },
    appendToBlob: { method: 'PATCH', path: await begun(), credential, body: 'appended' },
    completeBlob: {
      method: 'PUT',
      path: `${await begun()}?digest=${sha256('completed')}`,
      credential,
      body: 'completed',
    },
    cancelBlob: { method: 'DELETE', path: await begun(), credential },
    deleteBlob: { method: 'DELETE', path: `/v2/${image}/blobs/${unwanted.digest}` },
    putManifest: {
      method: 'PUT',
      path: `/v2/${image}/manifests/put`,
      credential,
      headers: { 'content-type': index.type },
      body: index.text,
    },
    promoteImage: {
      path: `${images}/promote`,
      credential,
      json: { image: 'some/image', reference: 'staged', target: 'target' },
    },
    addImageStage: {
      method: 'PUT',
      path: `${images}/stages/approved`,
      credential,
      json: { image: 'some/image', reference: 'staged' },
    },
    removeImageStage: {
      method: 'DELETE',
      path: `${images}/stages/tested?image=some/image&reference=staged`,
      credential,
    },
    setImageTag: {
      method: 'PUT',
      path: `${images}/tags`,
      credential,
      json: { image: 'some/image', tag: 'set', digest: index.digest },
    },
    deleteImageTag: { method: 'DELETE', path: `${images}/tags?${named}&tag=unneeded`, credential },
    deleteImageManifest: { method: 'DELETE', path: `${images}/manifests?${named}&digest=${deleted.digest}` },
    deleteManifest: { method: 'DELETE', path: `/v2/${image}/manifests/unwanted`, credential },
  }
}
