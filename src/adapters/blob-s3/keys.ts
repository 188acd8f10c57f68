import { objectUploadNameMaxCharacters } from '../../kernel/limits/engines.ts'
import { type BlobName, isBlobName, toBlobName } from '../../ports/blob-name.ts'

/*
 *   <prefix>blobs/
 *     00/ … ff/
 *       <sha256>-<generation>    one blob: complete, verified, durable (I3); `<sha256>` if it is from before there were
 *                                generations. An upload to this key shows only when it is completed, so that bytes
 *                                whose name is known go straight here
 *   <prefix>owner                what the store belongs to, in one line
 *   <prefix>staging/
 *     <place>/<n>                bytes that are to be copied: a segment of a blob whose name is not known, or a loose
 *                                part from before each try had its own key
 *     <place>/<n>.<try>          or a loose part. Each try at it has a key of its own, so that a request which comes
 *                                late, after its sender died and another try was answered, changes nothing that
 *                                anybody relies on
 *
 * A place is the id of a staged blob (no dot), or `<name>.<upload>`: an upload to a blob's key. So both the upload and
 * the loose parts that belong to it say what their place is, without asking anybody.
 *
 * Every key below is made of a blob's name, an id or a place that passed its grammar here: none is joined from raw
 * input.
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
  | { readonly kind: 'upload'; readonly name: BlobName; readonly uploadId: string }

const isStagedId = (text: string): boolean => stagedId.test(text)

/** Throws a RangeError for what is no id. */
export const mustBeStagedId = (id: string): void => {
  if (!isStagedId(id)) throw new RangeError(`not an id of a staged blob: ${JSON.stringify(id.slice(0, 80))}`)
}

/** The place of an upload to the key of a blob. Throws where the store's name of it is unreasonably long. */
export const uploadPlace = (name: BlobName, uploadId: string): string => {
  const encoded = encodeURIComponent(uploadId)
  if (!encodedUpload.test(encoded) || encoded.length > objectUploadNameMaxCharacters)
    throw new Error(`the object store names an upload in ${encoded.length} characters`)
  return `${toBlobName(name)}.${encoded}`
}

/** Throws a RangeError for what is no place. */
export const parsePlace = (place: string): Place => {
  const found = findPlace(place)
  if (found === null) throw new RangeError(`not a place of the object store: ${JSON.stringify(place.slice(0, 80))}`)
  return found
}

const findPlace = (place: string): Place | null => {
  if (isStagedId(place)) return { kind: 'id', id: place }
  const dot = place.indexOf('.')
  const name = place.slice(0, Math.max(dot, 0))
  const encoded = place.slice(dot + 1)
  if (!isBlobName(name) || !encodedUpload.test(encoded)) return null
  if (encoded.length > objectUploadNameMaxCharacters) return null
  try {
    return { kind: 'upload', name, uploadId: decodeURIComponent(encoded) }
  } catch {
    return null
  }
}

export interface Keys {
  /** Begins every key of the store. */
  readonly all: string
  readonly blobs: string
  readonly owner: string
  readonly staging: string
  blob(name: BlobName): string
  /** Begins every key of the place. */
  inPlace(place: string): string
  staged(place: string, n: number): string
  loose(place: string, n: number, attempt: string): string
  /** What a listed key stands for; null where it is none of ours. */
  blobOf(key: string): BlobName | null
  placeOf(key: string): string | null
}

/** The prefix is empty or ends with a slash. */
export const keysUnder = (prefix: string): Keys => {
  const blobs = `${prefix}blobs/`
  const staging = `${prefix}staging/`
  const blob = (name: BlobName): string => `${blobs}${toBlobName(name).slice(0, 2)}/${name}`
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
    owner: `${prefix}owner`,
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
      const name = key.slice(key.lastIndexOf('/') + 1)
      return isBlobName(name) && blob(name) === key ? name : null
    },
    placeOf: (key) => {
      if (!key.startsWith(staging)) return null
      const [place = '', n = '', ...rest] = key.slice(staging.length).split('/')
      return rest.length === 0 && inPlaceForm.test(n) && findPlace(place) !== null ? place : null
    },
  }
}
