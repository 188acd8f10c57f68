import { type ServeDeps, serve } from '../../content/serve/serve.ts'
import { downloadAsked } from '../../contract/download.ts'
import { type BoundOperation, handle } from '../../contract/handler.ts'
import { refuseUnlessHeld } from '../../features/identity/access/access.ts'
import type { UploadDeps } from '../../features/transfers/uploads/uploads.ts'
import type { RepositoryAction } from '../../kernel/actions.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { deleteBlob, receiveBlob } from './blobs.ts'
import { deleteManifest, deleteTag } from './deleting.ts'
import { listImages } from './images.ts'
import {
  blobAt,
  manifestAt,
  refersTo,
  refuseLongName,
  refuseManyTags,
  refuseReversed,
  refuseUnlessReadable,
  tagWanted,
} from './lookup.ts'
import { mountBlob } from './mounting.ts'
import * as operations from './operations.ts'
import { pushManifest } from './pushing.ts'
import { listReferrers } from './referrers.ts'
import {
  appendToUpload,
  beginBlobUpload,
  blobUploadBytes,
  cancelBlobUpload,
  chunkRange,
  completeUpload,
  rangeOf,
  uploadLocation,
} from './sessions.ts'
import { listTags } from './tags.ts'
import { type TokenDeps, tokenFor } from './token.ts'
import { imageIndexType, toDigest } from './vocabulary.ts'

type OciDeps = UploadDeps & ServeDeps & TokenDeps & Asking

/** What a caller may do elsewhere. */
interface Asking {
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
  readonly repositoriesHolding: (
    caller: Caller,
    needed: readonly RepositoryAction[],
    after: string,
    limit: number,
  ) => Promise<readonly string[]>
}

interface Here {
  readonly repository: string
  readonly name: string
}

const scopeOf = ({ repository, name }: Here, caller: Caller) => ({ repository, name, owner: actorOf(caller) })

/** The address of something of an image. */
const addressIn = ({ repository, name }: Here, rest: string): string => `/v2/${repository}/${name}/${rest}`

const stored = (here: Here, kind: 'blobs' | 'manifests', digest: string) => ({
  location: addressIn(here, `${kind}/${digest}`),
  'docker-content-digest': digest,
})

const progress = (here: Here, id: string, bytes: number) => ({
  location: uploadLocation({ ...here, owner: '' }, id),
  range: rangeOf(bytes),
  'docker-upload-uuid': id,
})

/** Where the next page is, with what was asked. */
const nextPage = (path: string, query: Readonly<Record<string, string | number | readonly string[] | undefined>>) => {
  const asked = new URLSearchParams()
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) if (value !== undefined) asked.append(name, String(value))
  return { link: `<${path}?${asked}>; rel="next"` }
}

export const ociHandlers = (deps: OciDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.getRegistryVersion, async () => ({
      status: 200,
      json: {},
      headers: { 'docker-distribution-api-version': 'registry/2.0' },
    })),
    handle(operations.getRegistryToken, async ({ headers, caller, request }) => {
      const json = await tokenFor(deps, caller, headers.authorization)
      // Whoever lost the credential while it was signed does not get it.
      await request.admitAgain()
      return { status: 200, json }
    }),
    handle(operations.listImages, async ({ query, caller }) => {
      const { names, next } = await listImages(
        reader,
        (after, limit) => deps.repositoriesHolding(caller, ['artifact.list'], after, limit),
        query,
      )
      const headers = next === null ? {} : nextPage('/v2/_catalog', { n: query.n, last: next })
      return { status: 200, json: { repositories: [...names] }, headers }
    }),
    handle(operations.getBlob, async ({ path, headers, caller, request }) => {
      const found = await blobAt(reader, path.repository, toDigest(path.digest))
      await refuseUnlessReadable(reader, found, () => deps.heldActions(caller, path.repository))
      const { sha256, size } = found
      if (!request.head) refuseReversed(headers.range, size)
      const file = { digest: toSha256(sha256), bytes: size, name: sha256 }
      const asked = { ...asWritten(downloadAsked({ headers, caller, request })), rangesTogether: true } as const
      return serve(deps, file, asked, { 'docker-content-digest': path.digest })
    }),
    handle(operations.deleteBlob, async ({ path, caller }) => {
      await deleteBlob(deps, scopeOf(path, caller), toDigest(path.digest))
      return { status: 202, json: null }
    }),
    handle(operations.beginBlob, async ({ path, query, body, caller, mayAlso }) => {
      refuseLongName(path)
      const scope = scopeOf(path, caller)
      const { digest, mount, from } = query
      if (mount !== undefined && (mayAlso || from === undefined)) {
        const held = (repository: string) => deps.heldActions(caller, repository)
        const source = { repository: from?.split('/', 1)[0] ?? null, held }
        if (await mountBlob(deps, scope, toDigest(mount), source))
          return { status: 201, json: null, headers: stored(path, 'blobs', mount) }
      } else if (digest !== undefined && mount === undefined) {
        await receiveBlob(deps, scope, { digest: toDigest(digest), ...body }, async () => {})
        return { status: 201, json: null, headers: stored(path, 'blobs', digest) }
      }
      const id = await beginBlobUpload(deps, scope)
      return { status: 202, json: null, headers: progress(path, id, 0) }
    }),
    handle(operations.appendToBlob, async ({ path, headers, body, caller }) => {
      const range = chunkRange(headers['content-range'])
      const bytes = await appendToUpload(deps, scopeOf(path, caller), path.id, body, range)
      return { status: 202, json: null, headers: progress(path, path.id, bytes) }
    }),
    handle(operations.completeBlob, async ({ path, query, headers, body, caller }) => {
      const last = { digest: toDigest(query.digest), body, range: chunkRange(headers['content-range']) }
      await completeUpload(deps, scopeOf(path, caller), path.id, last)
      return { status: 201, json: null, headers: stored(path, 'blobs', query.digest) }
    }),
    handle(operations.getBlobUpload, async ({ path, caller }) => {
      const bytes = await blobUploadBytes(deps, scopeOf(path, caller), path.id)
      return { status: 204, json: null, headers: progress(path, path.id, bytes) }
    }),
    handle(operations.cancelBlob, async ({ path, caller }) => {
      await cancelBlobUpload(deps, scopeOf(path, caller), path.id)
      return { status: 204, json: null }
    }),
    handle(operations.getManifest, async ({ path, headers, caller, request }) => {
      const { manifest, called } = await manifestAt(reader, path, path.reference)
      const { sha256, size, media_type } = manifest
      const file = { digest: toSha256(sha256), bytes: size, name: sha256, mediaType: media_type }
      const asked = asWritten(downloadAsked({ headers, caller, request }))
      // All of it, whatever range is asked for, which a proxy would follow.
      const whole = { ...asked, range: undefined, proxySends: asked.proxySends && asked.range === undefined }
      // From here, whatever the store has addresses for: what it answers has no digest.
      return serve({ ...deps, redirects: false }, file, whole, { 'docker-content-digest': called })
    }),
    handle(operations.putManifest, async ({ path, query, body, caller }) => {
      refuseLongName(path)
      const scope = scopeOf(path, caller)
      const reference = refersTo(path.reference)
      const beside = (query.tag ?? []).flatMap((texts) => texts.split(',')).map((text) => tagWanted(text.trim()))
      const tags = reference.digest === null ? [tagWanted(path.reference), ...beside] : beside
      refuseManyTags(beside)
      if (tags.length > 0) refuseUnlessHeld(await deps.heldActions(caller, path.repository), 'asset.write')
      const { digest, subject } = await pushManifest(deps, scope, {
        ...{ bytes: body.bytes, contentType: body.mediaType, digest: reference.digest, tags },
      })
      return {
        status: 201,
        json: null,
        headers: {
          ...stored(path, 'manifests', digest.text),
          ...(subject === null ? {} : { 'oci-subject': subject.text }),
          ...(beside.length === 0 ? {} : { 'oci-tag': beside.join(', ') }),
        },
      }
    }),
    handle(operations.deleteManifest, async ({ path, caller }) => {
      const scope = scopeOf(path, caller)
      const { digest } = refersTo(path.reference)
      const held = await deps.heldActions(caller, path.repository)
      refuseUnlessHeld(held, digest === null ? 'asset.write' : 'artifact.delete')
      await (digest === null ? deleteTag(deps, scope, path.reference) : deleteManifest(deps, scope, digest))
      return { status: 202, json: null }
    }),
    handle(operations.listTags, async ({ path, query }) => {
      const { tags, next } = await listTags(reader, path, query)
      const headers = next === null ? {} : nextPage(addressIn(path, 'tags/list'), { n: query.n, last: next })
      return { status: 200, json: { name: `${path.repository}/${path.name}`, tags: [...tags] }, headers }
    }),
    handle(operations.listReferrers, async ({ path, query }) => {
      const { artifactType, last } = query
      const subject = toDigest(path.digest)
      const { text, next } = await listReferrers(reader, path, { subject, artifactTypes: artifactType, last })
      const headers = {
        'content-type': imageIndexType,
        ...(artifactType === undefined ? {} : { 'oci-filters-applied': 'artifactType' }),
        ...(next === null ? {} : nextPage(addressIn(path, `referrers/${path.digest}`), { artifactType, last: next })),
      }
      return { status: 200, text, headers }
    }),
  ]
}

/** Some clients leave the quotes of an ETag out. */
const asWritten = <Asked extends { readonly ifNoneMatch: string | undefined }>(asked: Asked): Asked =>
  asked.ifNoneMatch === undefined || /["*]/.test(asked.ifNoneMatch)
    ? asked
    : { ...asked, ifNoneMatch: `"${asked.ifNoneMatch}"` }
