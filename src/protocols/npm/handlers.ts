import { type ServeDeps, serve } from '../../content/serve/serve.ts'
import { downloadAsked } from '../../contract/download.ts'
import { type BoundOperation, handle, type RequestFacts } from '../../contract/handler.ts'
import { weightOf } from '../../contract/pages/wants-html.ts'
import { refuseUnlessHeld } from '../../features/identity/access/access.ts'
import type { TransferDeps } from '../../features/transfers/uploads/uploads.ts'
import type { RepositoryAction } from '../../kernel/actions.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { createGate } from '../../kernel/gate.ts'
import { npmDocumentStepBytes, npmDocumentsLentBytes, npmSearchesAtOnce } from '../../kernel/limits/npm.ts'
import { calledName } from './called.ts'
import { type Changed, type Changer, deleteDistTag, putDistTag } from './changing.ts'
import { createDocuments, type Form } from './documents.ts'
import { Lending } from './lending.ts'
import { changeOwn, lookUpDistTags, lookUpDocument, lookUpFile, lookUpManifest } from './lookup.ts'
import * as operations from './operations.ts'
import { readDocument } from './publishing/document.ts'
import { takeDocument } from './publishing/publishing.ts'
import { changeAtRevision, changeBySaying } from './publishing/said.ts'
import { attestationsAt, knownTags, type PackageName, versionOfFile } from './reading.ts'
import { badPackage, packageUnknown } from './refusals.ts'
import { revisionText } from './rendering.ts'
import { searchPackages } from './search.ts'
import { inSteps } from './steps.ts'
import { unpublish } from './unpublishing.ts'
import { isAskableName } from './upstream/names.ts'
import type { Asker, Upstream } from './upstream/upstream.ts'
import { abbreviatedType, isPackageName } from './vocabulary.ts'

type NpmDeps = ServeDeps & TransferDeps & Asking

/** What a caller may do here. */
interface Asking {
  readonly npmUpstream: Upstream
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

interface Here {
  readonly repository: string
  readonly package: string
}

/** 404 for what nothing can be published under. */
const nameOf = (path: Here): PackageName => {
  if (!isPackageName(path.package)) throw packageUnknown(path.package)
  return { repository: path.repository, name: path.package }
}

/** The same of what is looked for: upstreams have names with capitals, under which nobody publishes any more. */
const readNameOf = (path: Here): PackageName => {
  if (!isAskableName(path.package)) throw packageUnknown(path.package)
  return { repository: path.repository, name: path.package }
}

interface Question {
  readonly caller: Caller
  readonly headers: { readonly via?: string }
  readonly request: Pick<RequestFacts, 'admitAgain'>
}

const askerOf = ({ caller, headers, request }: Question): Asker => ({
  actor: actorOf(caller),
  via: headers.via,
  admitAgain: request.admitAgain,
})

/** The address below which clients find everything of a repository. */
const registryOf = ({ baseUrl }: RequestFacts, { repository }: { readonly repository: string }): string =>
  `${baseUrl}/npm/${repository}`

/** The short form is for who names it, and wants no other kind of JSON more. */
const formOf = (accept: string | undefined): Form => {
  const short = weightOf(accept ?? '', /^application\/vnd\.npm\.install-v1\+json$/)
  const full = weightOf(accept ?? '', /^application\/json$/)
  return short !== null && short > 0 && short >= (full ?? 0) ? 'abbreviated' : 'full'
}

const takesGzip = (encodings: string | undefined): boolean => (weightOf(encodings ?? '', /^(?:gzip|\*)$/) ?? 0) > 0

const changerOf = (path: Here, caller: Caller) => ({ ...nameOf(path), owner: actorOf(caller) })

const told = (name: string, { packageId, revision }: Changed) =>
  ({ ok: true, success: true, id: name, rev: revisionText({ id: packageId, revision }) }) as const

/** The version in the body of a request that moves a tag. */
const versionIn = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch (error) {
    throw badPackage('The body names a version, in JSON: "1.0.0".', { cause: error })
  }
}

/** Never is a version given other bytes, and what somebody was given is not for who comes after them. */
const forEver = { 'cache-control': 'private, max-age=31536000, immutable', vary: 'Origin, Authorization' }

export const npmHandlers = (deps: NpmDeps): BoundOperation[] => {
  const { reader } = deps.database
  const looking = { ...deps, documents: createDocuments(deps) }
  const lending = new Lending(npmDocumentsLentBytes)
  const searching = createGate(npmSearchesAtOnce)
  const changing = <T>(path: Here, caller: Caller, change: (changer: Changer) => Promise<T>): Promise<T> =>
    changeOwn(deps, { repository: path.repository, name: path.package }, async () => change(changerOf(path, caller)))
  return [
    handle(operations.getNpmRegistry, async () => ({ status: 200, json: {} })),
    handle(operations.getPackument, async ({ path, query, headers, caller, request }) => {
      const form = query.write === undefined ? formOf(headers.accept) : 'full'
      const asked = {
        form,
        registry: registryOf(request, path),
        takesGzip: takesGzip(headers['accept-encoding']),
        ifNoneMatch: headers['if-none-match'],
        ifModifiedSince: headers['if-modified-since'],
      } as const
      const found = await lookUpDocument(looking, readNameOf(path), asked, askerOf({ caller, headers, request }))
      if (found.bytes === null) return { status: 304, headers: found.headers, bytes: null }
      const type = form === 'full' ? 'application/json' : abbreviatedType
      const all = { ...found.headers, 'content-type': type, 'content-length': String(found.bytes.byteLength) }
      if (request.head) return { status: 200, headers: all, bytes: null }
      if (found.bytes.byteLength > npmDocumentStepBytes)
        request.scope.own(lending.lend(actorOf(caller), found.bytes, request.hangUp))
      return { status: 200, headers: all, bytes: inSteps(found.bytes, npmDocumentStepBytes) }
    }),
    handle(operations.getNpmManifest, async ({ path, headers, caller, request }) => {
      const asker = askerOf({ caller, headers, request })
      const text = await lookUpManifest(looking, readNameOf(path), path.version, registryOf(request, path), asker)
      return {
        status: 200,
        headers: { 'content-type': 'application/json', 'cache-control': 'private, no-cache' },
        text,
      }
    }),
    handle(operations.getNpmTarball, async ({ path, headers, caller, request }) => {
      const { sha256, size, name } = await lookUpFile(
        looking,
        readNameOf(path),
        path.file,
        askerOf({ caller, headers, request }),
      )
      const file = { digest: toSha256(sha256), bytes: size, name }
      return serve(deps, file, downloadAsked({ headers, caller, request }), forEver)
    }),
    handle(operations.listDistTags, async ({ path, headers, caller, request }) => {
      const found = await lookUpDistTags(looking, readNameOf(path), askerOf({ caller, headers, request }))
      const known = knownTags(found, headers['if-none-match'])
      if (known.isKnown) return { status: 304, headers: known.headers, bytes: null }
      return { status: 200, headers: known.headers, json: found.tags }
    }),
    handle(operations.putPackage, async ({ path, body, caller }) => {
      const held = await deps.heldActions(caller, path.repository)
      const called = await calledName(reader, caller)
      const changer = { repository: path.repository, name: path.package, owner: actorOf(caller) }
      const publisher = {
        ...changer,
        called,
        refuseUnlessHeld: (action: RepositoryAction) => refuseUnlessHeld(held, action),
      }
      const taken = await takeDocument(deps, publisher, body)
      if (taken.kind === 'published') return { status: 201, json: told(path.package, taken) }
      const changed = await changeOwn(deps, changer, () => changeBySaying(deps, changer, called, taken.document))
      return { status: 200, json: told(path.package, changed) }
    }),
    handle(operations.putPackageAt, async ({ path, body, caller }) => {
      const held = await deps.heldActions(caller, path.repository)
      const document = readDocument(body)
      if ((await document.next()) !== null) throw badPackage('A tarball is published at the address of its package.')
      refuseUnlessHeld(held, document.versions.size > 0 ? 'artifact.delete' : 'asset.write')
      const changed = await changing(path, caller, (changer) =>
        changeAtRevision(deps, changer, path.revision, document),
      )
      return { status: 200, json: told(path.package, changed) }
    }),
    handle(operations.deletePackage, async ({ path, caller }) => {
      const changed = await changing(path, caller, (changer) => unpublish(deps, changer, () => true, path.revision))
      return { status: 200, json: told(path.package, changed) }
    }),
    handle(operations.deleteTarball, async ({ path, caller }) => {
      await changing(path, caller, async (changer) => {
        const version = await versionOfFile(reader, changer, path.file)
        if (version !== null) await unpublish(deps, changer, (each) => each === version)
        else if (await deps.npmUpstream.has(changer)) throw packageUnknown(changer.name)
      })
      return { status: 200, json: { ok: true } as const }
    }),
    handle(operations.setDistTag, async ({ path, body, caller }) => {
      const version = versionIn(body.bytes)
      const changed = await changing(path, caller, (changer) => putDistTag(deps, changer, path.tag, version))
      return { status: 200, json: told(path.package, changed) }
    }),
    handle(operations.deleteDistTag, async ({ path, caller }) => ({
      status: 200,
      json: told(path.package, await changing(path, caller, (changer) => deleteDistTag(deps, changer, path.tag))),
    })),
    handle(operations.searchNpmPackages, async ({ path, query }) => ({
      status: 200,
      json: await searching(() => searchPackages(reader, path.repository, query)),
    })),
    handle(operations.getAttestations, async ({ path }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      text: await attestationsAt(reader, path.repository, path.version),
    })),
  ]
}
