import { Failure, type FailureCode, type FailureExtras } from '../../kernel/failure.ts'

/** Codes of the specification, and those beside them that clients understand. */
export type RegistryCode =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DENIED'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_INVALID'
  | 'NAME_UNKNOWN'
  | 'PAGINATION_NUMBER_INVALID'
  | 'RANGE_INVALID'
  | 'SIZE_INVALID'
  | 'TAG_INVALID'
  | 'TOOMANYREQUESTS'
  | 'UNAUTHORIZED'
  | 'UNAVAILABLE'
  | 'UNKNOWN'
  | 'UNSUPPORTED'

/** One thing that is wrong. */
export interface RegistryError {
  readonly code: RegistryCode
  readonly message: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/** A refusal that says more in the words of the wire than the failure that it is: several things may be wrong. */
export class Refusal extends Failure {
  readonly errors: readonly RegistryError[]

  constructor(code: FailureCode, errors: readonly RegistryError[], extras: FailureExtras = {}) {
    super(code, errors.map(({ message }) => message).join(' '), extras)
    this.errors = errors
  }
}

const one =
  (code: FailureCode, registryCode: RegistryCode) =>
  (message: string, detail: Readonly<Record<string, unknown>> = {}): Refusal =>
    new Refusal(code, [{ code: registryCode, message, detail }])

export const blobUnknown = (digest: string): Refusal =>
  one('not_found', 'BLOB_UNKNOWN')(`There is no blob ${digest} here.`, { digest })
export const manifestUnknown = (reference: string): Refusal =>
  one('not_found', 'MANIFEST_UNKNOWN')(`There is no manifest ${JSON.stringify(reference)} here.`, { reference })
export const uploadUnknown = (id: string): Refusal =>
  one('not_found', 'BLOB_UPLOAD_UNKNOWN')('There is no such upload that is open, and yours. Begin another one.', { id })
export const digestInvalid = one('invalid_request', 'DIGEST_INVALID')
export const sizeInvalid = one('invalid_request', 'SIZE_INVALID')
export const nameInvalid = one('invalid_request', 'NAME_INVALID')
export const tagInvalid = one('invalid_request', 'TAG_INVALID')
export const manifestInvalid = one('invalid_request', 'MANIFEST_INVALID')
export const imageKept = one('image_kept', 'DENIED')
export const tagImmutable = (tag: string, pattern: string): Refusal =>
  one('tag_immutable', 'DENIED')(
    `The tag ${tag} stays where it is: it matches ${pattern}, which is among the immutable tags of this repository.`,
    { tag, pattern },
  )
export const blobInUse = one('method_not_allowed', 'UNSUPPORTED')
