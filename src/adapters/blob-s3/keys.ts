import { isSha256, type Sha256, toSha256 } from '../../kernel/digest.ts'
import { objectUploadNameMaxCharacters } from '../../kernel/engine-limits.ts'

/*
 *   <prefix>blobs/
 *     00/ … ff/
 *       <sha256>                 one blob: complete, verified, durable (I3). An upload to this key shows only when it is
 *                                completed, so that bytes whose digest is known go straight here
 *   <prefix>staging/
 *     <place>/<n>                bytes that are to be copied: a segment of a blob whose digest is not known
 *     <place>/<n>.<try>          or a loose part. Each try at it has a key of its own, so that a request which comes late, after
 *                                its sender died and another try was answered, changes nothing that anybody relies on
 *
 * A place is the id of a staged blob (no dot), or `<sha256>.<upload>`: an upload to a blob's key. So both the upload and the
 * loose parts that belong to it say what their place is, without asking anybody.
 *
 * Every key below is made of a digest, an id or a place that passed its grammar here: none is joined from raw input.
 */

const stagedId = /^[0-9a-z](?:[0-9a-z-]{0,62}[0-9a-z])?$/
/** What encodeURIComponent leaves or makes. */
const encodedUpload = /^(?:[\w.!~*'()-]|%[0-9A-F]{2})+$/
const index = /^(?:0|[1-9]\d{0,4})$/
/** A segment, or a try at a loose part. */
const inPlaceForm = /^(?:0|[1-9]\d{0,4})(?:\.[0-9a-z-]{1,36})?$/

/** A place that was named by the caller, or an upload to the key of a blob. */
export type Place =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'upload'; readonly digest: Sha256; readonly uploadId: string }

const isStagedId = (text: string): boolean => stagedId.test(text)

/** Throws a RangeError for what is no id. */
export const mustBeStagedId = (id: string): void => {
  if (!isStagedId(id)) throw new RangeError(`not an id of a staged blob: ${JSON.stringify(id.slice(0, 80))}`)
}

/** The place of an upload to the key of a blob. Throws where the store's name of it is unreasonably long. */
export const uploadPlace = (digest: Sha256, uploadId: string): string => {
  const encoded = encodeURIComponent(uploadId)
  if (!encodedUpload.test(encoded) || encoded.length > objectUploadNameMaxCharacters)
    throw new Error(`the object store names an upload in ${encoded.length} characters`)
  return `${toSha256(digest)}.${encoded}`
}

/** Throws a RangeError for what is no place. */
export const parsePlace = (place: string): Place => {
  const found = findPlace(place)
  if (found === null) throw new RangeError(`not a place of the object store: ${JSON.stringify(place.slice(0, 80))}`)
  return found
}

const findPlace = (place: string): Place | null => {
  if (isStagedId(place)) return { kind: 'id', id: place }
  const digest = place.slice(0, 64)
  const encoded = place.slice(65)
  if (!isSha256(digest) || place[64] !== '.' || !encodedUpload.test(encoded)) return null
  if (encoded.length > objectUploadNameMaxCharacters) return null
  try {
    return { kind: 'upload', digest, uploadId: decodeURIComponent(encoded) }
  } catch {
    return null
  }
}

export interface Keys {
  /** Begins every key of the store. */
  readonly all: string
  readonly blobs: string
  readonly staging: string
  blob(digest: Sha256): string
  /** Begins every key of the place. */
  inPlace(place: string): string
  staged(place: string, n: number): string
  loose(place: string, n: number, attempt: string): string
  /** What a listed key stands for; null where it is none of ours. */
  blobOf(key: string): Sha256 | null
  placeOf(key: string): string | null
}

/** The prefix is empty or ends with a slash. */
export const keysUnder = (prefix: string): Keys => {
  const blobs = `${prefix}blobs/`
  const staging = `${prefix}staging/`
  const blob = (digest: Sha256): string => `${blobs}${toSha256(digest).slice(0, 2)}/${digest}`
  const inPlace = (place: string): string => {
    parsePlace(place)
    return `${staging}${place}/`
  }
  const staged = (place: string, n: number): string => {
    if (!index.test(String(n))) throw new RangeError(`not an index of a part: ${n}`)
    return `${inPlace(place)}${n}`
  }
  return {
    all: prefix,
    blobs,
    staging,
    blob,
    inPlace,
    staged,
    loose: (place, n, attempt) => {
      const key = `${staged(place, n)}.${attempt}`
      if (!inPlaceForm.test(`${n}.${attempt}`)) throw new RangeError('not a try at a part')
      return key
    },
    blobOf: (key) => {
      const digest = key.slice(-64)
      return isSha256(digest) && blob(digest) === key ? digest : null
    },
    placeOf: (key) => {
      if (!key.startsWith(staging)) return null
      const [place = '', n = '', ...rest] = key.slice(staging.length).split('/')
      return rest.length === 0 && inPlaceForm.test(n) && findPlace(place) !== null ? place : null
    },
  }
}
