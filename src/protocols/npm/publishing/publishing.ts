import type { IncomingBody } from '../../../contract/handler.ts'
import type { Queries } from '../../../database/database.ts'
import type { TransferDeps } from '../../../features/transfers/uploads/uploads.ts'
import { receiveWhole } from '../../../features/transfers/whole/whole.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { packageLine } from '../../../journal/repository/package-lines.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import { npmAttestationMaxBytes } from '../../../kernel/limits/npm.ts'
import { isTaken } from '../changing.queries.ts'
import { addVersion, type Change, packageNamed, settlePackage, tagAdded } from '../packages.ts'
import type { PackageName } from '../reading.ts'
import { alreadyPublished, badPackage, tooLarge } from '../refusals.ts'
import { attestationsOf } from './attestations.ts'
import { createBase64 } from './base64.ts'
import { type Claimed, claimedOf, manifestText, plainText, refuseName, refuseOther, versionOf } from './claimed.ts'
import { type Attachment, type IncomingDocument, readDocument } from './document.ts'
import { type TarballFound, TarballReading } from './reading-tarball.ts'

/** Who publishes where. */
export interface Publisher extends PackageName {
  readonly owner: string
  /** As clients show it. */
  readonly called: string
  /** Throws unless the caller may do this here. */
  readonly refuseUnlessHeld: (action: RepositoryAction) => void
}

/** What was made of a document. */
export type Taken =
  | { readonly kind: 'published'; readonly packageId: string; readonly revision: number }
  /** It has no tarball: it says something else of the package. */
  | { readonly kind: 'said'; readonly document: IncomingDocument }

/** What a publish does beside what everybody does who writes. */
const publishing = ['package.publish', 'upload.create', 'upload.write', 'upload.complete'] as const

/**
 * Takes a document as it comes. The tarball in it goes where all bytes go while the rest is read: it is decoded, hashed
 * and looked into on its way, and nothing of it is kept in memory. When the document is whole, everything that it says
 * is compared with what came; then one transaction adds the version, moves tags, writes documents and journal (I1, I4).
 * Refused, it leaves nothing.
 */
export const takeDocument = async (deps: TransferDeps, publisher: Publisher, body: IncomingBody): Promise<Taken> => {
  const document = readDocument(body)
  const others = new Map<string, Buffer>()
  for (let attachment = await document.next(); attachment !== null; attachment = await document.next()) {
    if (isAttestation(attachment.name)) {
      others.set(attachment.name, await textOf(attachment))
      continue
    }
    for (const action of publishing) publisher.refuseUnlessHeld(action)
    refuseName(publisher.name)
    await refuseEarly(deps.database.reader, publisher, document)
    const sent = new Sent(document, attachment, others, body.declaredBytes)
    try {
      return await receive(deps, publisher, sent)
    } finally {
      sent.drop()
    }
  }
  if (others.size > 0) throw badPackage('The document has an attestation and no tarball.')
  return { kind: 'said', document }
}

const isAttestation = (name: string): boolean => name.endsWith('.sigstore')

/** Clients tell of the version before they send its bytes, which need not come for one that is there. */
const refuseEarly = async (q: Queries, here: PackageName, { versions }: IncomingDocument): Promise<void> => {
  const [only] = versions.keys()
  if (only === undefined || versions.size > 1) return
  const version = versionOf(only)
  if (await isTaken(q, here, version)) throw alreadyPublished(version)
}

const receive = async (deps: TransferDeps, publisher: Publisher, sent: Sent): Promise<Taken> => {
  const { repository, name, owner, called } = publisher
  let claimed: Claimed | null = null
  const check = async (bytes: number): Promise<Claimed> => {
    claimed ??= claimedOf(sent.document, name, sent.name)
    refuseOther(claimed, { bytes, ...sent.found })
    return claimed
  }
  const file = { name: sent.name.slice(0, 255), kind: 'npm-version', declaredBytes: null, digest: null } as const
  return await receiveWhole<Taken>(
    deps,
    { repository, owner },
    { ...file, mostBytes: sent.mostBytes, pieces: sent.pieces() },
    {
      early: async (content) => {
        await check(content.bytes)
        return null
      },
      commit: async (tx, row, content, now) => {
        const version = await check(content.bytes)
        const { sha1, sha512, unpacked } = sent.found
        const change: Change = { actor: owner, now }
        const packageId = await packageNamed(tx, publisher, called, change)
        await addVersion(
          tx,
          publisher,
          packageId,
          {
            id: row.id,
            version: version.version,
            ...{ sha256: content.digest, size: content.bytes, sha1, sha512 },
            ...{ files: unpacked.files, unpacked_size: unpacked.bytes },
            manifest: manifestText(version, unpacked, called),
            readme: version.readme === null ? null : plainText(version.readme),
            attestations: sent.attestations(version),
            deprecated: null,
          },
          change,
          deps.capacityBytes,
        )
        const line = { artifactId: row.id, detail: packageLine(name, version.version), actor: owner, occurredAt: now }
        await appendJournal(tx, { repository, action: 'package.publish', ...line })
        const added = { id: row.id, version: version.version }
        await tagAdded(tx, publisher, packageId, version.tags, added, change)
        const revision = await settlePackage(tx, packageId, change)
        deps.reach('npm.told')
        return { kind: 'published', packageId, revision }
      },
    },
  )
}

const textOf = async ({ data, name }: Attachment): Promise<Buffer> => {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of data) {
    bytes += piece.byteLength
    if (bytes > npmAttestationMaxBytes) throw tooLarge(`${name} has more than ${npmAttestationMaxBytes} bytes.`)
    pieces.push(Buffer.from(piece))
  }
  try {
    return Buffer.from(String(JSON.parse(`"${Buffer.concat(pieces).toString()}"`)))
  } catch (error) {
    throw badPackage(`${name} is no text.`, { cause: error })
  }
}

/** The tarball of a document, and what is known of it once all of it was read. */
class Sent {
  readonly document: IncomingDocument
  readonly name: string
  /** More bytes than this it cannot have, by the length of the document. */
  readonly mostBytes: number | undefined
  readonly #attachment: Attachment
  readonly #others: Map<string, Buffer>
  readonly #reading = new TarballReading()

  constructor(
    document: IncomingDocument,
    attachment: Attachment,
    others: Map<string, Buffer>,
    documentBytes: number | null,
  ) {
    this.document = document
    this.mostBytes = documentBytes === null ? undefined : Math.ceil((documentBytes * 3) / 4)
    this.name = attachment.name
    this.#attachment = attachment
    this.#others = others
  }

  /** The bytes of the tarball; ends when the document was read to its end. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    const base64 = createBase64()
    for await (const text of this.#attachment.data) {
      const bytes = base64.push(text)
      await this.#reading.take(bytes)
      if (bytes.byteLength > 0) yield bytes
    }
    const last = base64.end()
    await this.#reading.take(last)
    if (last.byteLength > 0) yield last
    await this.#reading.end()
    for (let next = await this.document.next(); next !== null; next = await this.document.next()) {
      if (!isAttestation(next.name)) throw badPackage('A document publishes one tarball; this one has more.')
      this.#others.set(next.name, await textOf(next))
    }
    if (this.#others.size > 1) throw badPackage('A document has at most one attestation.')
  }

  get found(): TarballFound {
    return this.#reading.found
  }

  /** As JSON; null where none came. */
  attestations({ name, version }: Claimed): string | null {
    const [bundle] = this.#others.values()
    if (bundle === undefined) return null
    const sha512 = Buffer.from(this.found.sha512, 'base64').toString('hex')
    return attestationsOf(bundle, { name, version, sha512 })
  }

  drop(): void {
    this.#reading.drop()
  }
}
