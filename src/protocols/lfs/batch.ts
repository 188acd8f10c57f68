import { isKeptWhole } from '../../content/claims/put-back.ts'
import { passSubject } from '../../contract/operation.ts'
import type { Database, Queries } from '../../database/database.ts'
import { type PassDeps, passMaker } from '../../features/identity/passes/passes.ts'
import type { CredentialCaller } from '../../kernel/caller.ts'
import { timestamp } from '../../kernel/clock.ts'
import { toSha256 } from '../../kernel/digest.ts'
import { Failure } from '../../kernel/failure.ts'
import {
  addressSeconds,
  batchLookedAtMax,
  batchLooksAtOnce,
  batchObjectsMax,
  echoedMaxCharacters,
  largeObjectBytes,
  lastUseEveryMs,
  roomToldBytes,
} from '../../kernel/limits/lfs.ts'
import type { BlobStore } from '../../ports/blob-store.ts'
import { objectsAmong, reservedBytes, roomOf, setUsed } from './objects.queries.ts'
import { passWays } from './operations.ts'
import { type Address, type BatchAnswer, type BatchObject, type BatchRequest, isOid, wireName } from './vocabulary.ts'

export interface BatchDeps extends PassDeps {
  readonly database: Database
  readonly store: Pick<BlobStore, 'size'>
  readonly capacityBytes: number
  readonly maxObjectBytes: number
  readonly role: 'api' | 'reader'
  readonly report: (message: string, error: unknown) => void
}

interface Asker {
  readonly repository: string
  readonly caller: CredentialCaller
  /** `https://host` as the client knows us. */
  readonly baseUrl: string
}

type Wanted = BatchRequest['objects'][number]
type Stored = Awaited<ReturnType<typeof objectsAmong>>[number]
/** What becomes of one object: what a client does with it, or why it cannot. */
type Told = Omit<BatchObject, 'oid' | 'size'>

const refused = (code: number, message: string): Told => ({ error: { code, message } })

/**
 * What a client does to get or to push some objects: an address for each, which carries what lets it in, fits this
 * object and this way alone, and is good as long as its time and the caller's credential are. Whatever is wrong with an
 * object is told beside it, and the others go on. 413 for too many, 409 for digests that are not SHA-256.
 *
 * A read gateway has no key to sign with, and takes no pushes (405): its addresses carry nothing, and clients show the
 * credential there that they showed here.
 */
export const answerBatch = async (deps: BatchDeps, asker: Asker, request: BatchRequest): Promise<BatchAnswer> => {
  const { operation, objects, hash_algo } = request
  if (objects.length > batchObjectsMax)
    throw new Failure('body_too_large', `A batch asks about at most ${batchObjectsMax} objects, not ${objects.length}.`)
  if (typeof hash_algo === 'string' && hash_algo !== 'sha256')
    throw new Failure(
      'already_exists',
      `Objects are called by their SHA-256 here, and not by ${hash_algo.slice(0, echoedMaxCharacters)}.`,
    )
  const { database, role } = deps
  if (role === 'reader' && operation === 'upload')
    throw new Failure('method_not_allowed', 'What is asked here is a read gateway: push to the address of the writer.')
  const transfer = transferOf(request)
  const stored = await storedAmong(database.reader, asker.repository, objects)
  if (operation === 'upload') await forgetLost(deps, stored)
  const letIn = await lettingIn(deps, asker)
  const tell = operation === 'download' ? downloads(asker, letIn) : await uploads(deps, asker, letIn, transfer)
  const answers: BatchObject[] = []
  for (const { oid, size } of objects) {
    const told = faultOf(oid, size) ?? (await tell(oid, size, stored.get(oid)))
    answers.push({ oid, size, ...told })
  }
  if (role === 'api') rememberUse(deps, [...stored.values()])
  return { transfer, objects: answers, hash_algo: 'sha256' }
}

const storedAmong = async (
  q: Queries,
  repository: string,
  objects: readonly Wanted[],
): Promise<Map<string, Stored>> => {
  const oids = [...new Set(objects.map(({ oid }) => oid).filter(isOid))]
  const rows = oids.length === 0 ? [] : await objectsAmong(q, repository, oids)
  return new Map(rows.map((row) => [row.sha256, row]))
}

/**
 * What the store has lost is not there for who has it and would send it: so it comes back. Of many only the first are
 * looked at.
 */
const forgetLost = async (deps: BatchDeps, stored: Map<string, Stored>): Promise<void> => {
  const looks = [...stored.values()].slice(0, batchLookedAtMax)
  const look = async (): Promise<void> => {
    for (let row = looks.pop(); row !== undefined; row = looks.pop())
      if (!(await isKeptWhole(deps, { digest: toSha256(row.sha256), bytes: row.size }))) stored.delete(row.sha256)
  }
  await Promise.all(Array.from({ length: batchLooksAtOnce }, look))
}

const faultOf = (oid: string, size: number): Told | null => {
  if (!isOid(oid)) return refused(422, 'The oid of an object is its SHA-256: 64 lowercase hexadecimal digits.')
  return Number.isSafeInteger(size) && size >= 0 ? null : refused(422, 'The size of an object is a count of bytes.')
}

type Tell = (oid: string, size: number, stored: Stored | undefined) => Promise<Told>

/** What lets a client in where an address leads. */
type LetIn = (passFor: string) => Promise<Omit<Address, 'href'>>

const lettingIn = async (deps: BatchDeps, { caller }: Asker): Promise<LetIn> => {
  if (deps.role === 'reader') return async () => ({})
  const sign = await passMaker(deps.database.reader, deps, caller, wireName)
  return async (passFor) => {
    const token = await sign(passFor, addressSeconds)
    return { header: { Authorization: `Bearer ${token}` }, expires_in: addressSeconds }
  }
}

const addresses = ({ repository, baseUrl }: Asker, letIn: LetIn) => {
  const passed = async (way: keyof typeof passWays, oid: string, path: string): Promise<Address> => {
    const href = `${baseUrl}/lfs/${repository}/objects/${oid}/${path}`
    return { href, ...(await letIn(passSubject(passWays[way], [repository, oid]))) }
  }
  return passed
}

const downloads = (asker: Asker, letIn: LetIn): Tell => {
  const address = addresses(asker, letIn)
  return async (oid, size, stored) => {
    if (stored === undefined) return refused(404, 'There is no such object in this repository.')
    if (stored.size !== size) return refused(422, `The object has ${stored.size} bytes here, and not ${size}.`)
    const download = await address('download', oid, 'content')
    return { ...(download.header === undefined ? {} : { authenticated: true }), actions: { download } }
  }
}

const uploads = async (deps: BatchDeps, asker: Asker, letIn: LetIn, transfer: Transfer): Promise<Tell> => {
  const address = addresses(asker, letIn)
  const room = await roomFor(deps, asker.repository)
  const counted = new Set<string>()
  return async (oid, size, stored) => {
    if (stored !== undefined)
      return stored.size === size ? {} : refused(422, `The object has ${stored.size} bytes here, and not ${size}.`)
    if (size > deps.maxObjectBytes)
      return refused(413, `A file may have at most ${deps.maxObjectBytes} bytes here (SVC_MAX_OBJECT_BYTES).`)
    if (!counted.has(oid)) {
      const short = room.shortOf(size)
      if (short !== null) return refused(507, short)
      counted.add(oid)
    }
    const upload = await address('upload', oid, `${ends[transfer]}?size=${size}`)
    if (size < largeObjectBytes) return { authenticated: true, actions: { upload } }
    const verify = await address('upload', oid, 'check')
    return { authenticated: true, actions: { upload, verify } }
  }
}

/** Where objects are sent to. */
const ends = { basic: 'content', tus: 'rest' } as const
type Transfer = keyof typeof ends

/**
 * Large objects go on where a line broke, where the client offers that. It costs a request more, and clients take an
 * empty object for one that is there already.
 */
const transferOf = ({ operation, transfers, objects }: BatchRequest): Transfer => {
  if (operation !== 'upload' || !transfers?.includes('tus')) return 'basic'
  if (!transfers.includes('basic')) return 'tus'
  const isWorth = objects.some(({ size }) => size >= largeObjectBytes) && objects.every(({ size }) => size > 0)
  return isWorth ? 'tus' : 'basic'
}

interface RoomLeft {
  /** Takes so many bytes of it; where they do not fit, why. */
  shortOf(bytes: number): string | null
}

/**
 * How many bytes more the repository and the server take, as far as that is known before they come. Of the server a
 * pusher hears no more than that it has no room: how much others store is theirs.
 */
const roomFor = async ({ database, capacityBytes }: BatchDeps, repository: string): Promise<RoomLeft> => {
  const q = database.reader
  const row = await roomOf(q, repository)
  const free = Math.max(0, capacityBytes - (await reservedBytes(q)))
  let ofServer = Math.ceil(free / roomToldBytes) * roomToldBytes
  let left =
    row === undefined || row.quota_bytes === null
      ? Number.POSITIVE_INFINITY
      : Math.max(0, row.quota_bytes - row.published_bytes - row.pending_bytes - row.retired_bytes)
  return {
    shortOf(bytes) {
      if (bytes > left)
        return `The quota of the repository does not suffice: ${left} bytes are left, and it has ${bytes}.`
      if (bytes > ofServer) return `The server has no room for it: it has ${bytes} bytes.`
      left -= bytes
      ofServer -= bytes
      return null
    },
  }
}

/** When objects were last asked for. Nobody waits for it, and no batch fails where it cannot be written. */
const rememberUse = (deps: BatchDeps, stored: readonly Stored[]): void => {
  const { database, clock, report } = deps
  const old = timestamp(clock.now() - lastUseEveryMs)
  const ids = stored.filter(({ used_at }) => used_at <= old).map(({ id }) => id)
  if (ids.length === 0) return
  database
    .transaction((tx) => setUsed(tx, ids.toSorted(), timestamp(clock.now())), { durability: 'relaxed' })
    .catch((error: unknown) => report('when objects were last asked for could not be remembered', error))
}
