import type { Database, Queries, Transaction } from '../../../database/database.ts'
import { appendJournal } from '../../../journal/repository/journal.ts'
import { type Clock, timestamp } from '../../../kernel/clock.ts'
import { Failure } from '../../../kernel/failure.ts'
import { referencesPerArtifactMax } from '../../../kernel/limits/catalog.ts'
import { opaqueCursor, positionOfCursor } from '../../../kernel/opaque-cursor.ts'
import { type Page, pageOf } from '../../../kernel/page.ts'
import { heldArtifact, publishedArtifact } from '../artifacts/artifacts.ts'
import { countReferences, deleteReference, insertReference, listReferences } from './references.queries.ts'

/**
 * A reference keeps a file from being deleted: a deployment that runs it, a customer who has it. It belongs to the
 * caller who set it, as their actor is written in the journal: an account (whatever credential it uses), a service
 * account (whatever key, so that rotating keys loses none), a key of the keys file. None of these is ever deleted, so
 * there is always somebody who can give it up: an account that was disabled, once it is enabled again; a key that was
 * taken out of the file, once an entry bears its id again.
 */
export interface ReferenceDeps {
  readonly database: Database
  readonly clock: Clock
}

export interface ReferenceTo {
  readonly repository: string
  readonly artifactId: string
  readonly key: string
}

/**
 * Sets the caller's reference to a published file. The same key again changes nothing. 507 `reference_limit` when the
 * file has as many as it may.
 */
export const addReference = (deps: ReferenceDeps, to: ReferenceTo, actor: string): Promise<void> =>
  deps.database.transaction(async (tx) => {
    const { repository, artifactId, key } = to
    await heldArtifact(tx, repository, artifactId)
    const now = timestamp(deps.clock.now())
    if (!(await insertReference(tx, { artifact_id: artifactId, owner: actor, key, created_at: now }))) return
    if ((await countReferences(tx, artifactId, referencesPerArtifactMax + 1)) > referencesPerArtifactMax)
      throw new Failure(
        'reference_limit',
        `A file may have ${referencesPerArtifactMax} references; give some up first.`,
      )
    await tell(tx, 'reference.add', to, actor, now)
  })

/** Gives up the caller's reference under the key. Harmless when there is none; another's stays. */
export const removeReference = (deps: ReferenceDeps, to: ReferenceTo, actor: string): Promise<void> =>
  deps.database.transaction(async (tx) => {
    const { repository, artifactId, key } = to
    await heldArtifact(tx, repository, artifactId)
    if (!(await deleteReference(tx, { artifact_id: artifactId, owner: actor, key }))) return
    await tell(tx, 'reference.remove', to, actor, timestamp(deps.clock.now()))
  })

const tell = (
  tx: Transaction,
  action: 'reference.add' | 'reference.remove',
  { repository, artifactId }: ReferenceTo,
  actor: string,
  occurredAt: string,
): Promise<void> => appendJournal(tx, { repository, action, artifactId, detail: null, actor, occurredAt })

export interface ReferenceEntry {
  readonly key: string
  readonly actor: string
  readonly createdAt: string
}

/** A page of the references to a file, by whom and under which key. 404 for what is not published. */
export const referencesTo = async (
  q: Queries,
  { repository, id }: { readonly repository: string; readonly id: string },
  after: string | undefined,
  limit: number,
): Promise<Page<ReferenceEntry>> => {
  await publishedArtifact(q, repository, id)
  const listing = ['references', repository, id]
  const [owner = '', key = ''] = after === undefined ? [] : positionOfCursor(listing, after, [isWord, isWord])
  const rows = await listReferences(q, id, { owner, key }, limit + 1)
  return pageOf(
    rows,
    limit,
    (row) => ({ key: row.key, actor: row.owner, createdAt: row.created_at }),
    (row) => opaqueCursor(listing, [row.owner, row.key]),
  )
}

/** What no database refuses to compare. */
const isWord = (text: string): boolean => /^[\x21-\x7e]{1,512}$/.test(text)
