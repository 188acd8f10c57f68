/**
 * The closed list of answers that say no. Every error that a client may see is one of these; anything else that is
 * thrown is a bug: 500, hidden message, request id shown, logged once with its cause.
 */
export const failures = {
  invalid_request: [400, 'The request is not valid'],
  credential_missing: [401, 'A credential is needed'],
  credential_invalid: [401, 'The credential is not valid'],
  session_expired: [401, 'The session has expired'],
  token_expired: [401, 'The token has expired'],
  invalid_credentials: [401, 'Name or password is wrong'],
  current_password_invalid: [401, 'The current password is wrong'],
  origin_not_allowed: [403, 'This origin is not allowed'],
  registration_disabled: [403, 'Self-registration is off'],
  read_only_token: [403, 'The token can only read'],
  address_expired: [403, 'The address has expired'],
  permission_missing: [403, 'A permission is missing'],
  ceiling_exceeded: [403, 'That is more than was delegated'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'The method is not allowed here'],
  upload_deadline: [408, 'The body took too long'],
  key_state: [409, 'The state of the key does not allow this'],
  revision_mismatch: [409, 'The revision is another one'],
  idempotency_mismatch: [409, 'The idempotency key belongs to another request'],
  already_exists: [409, 'It exists already'],
  repository_not_empty: [409, 'The repository is not empty'],
  upload_state: [409, 'The state of the upload does not allow this'],
  parts_incomplete: [409, 'Parts are missing'],
  part_mismatch: [409, 'Another part is stored under this index'],
  source_not_deletable: [409, 'The source cannot be deleted'],
  stage_limit: [409, 'It has as many stages as it may'],
  image_kept: [409, 'The image is kept'],
  version_kept: [409, 'The version is kept'],
  image_incomplete: [409, 'Something of the image is missing'],
  promotion_limit: [409, 'That is more than one promotion takes'],
  version_exists: [409, 'Another file has this package version'],
  point_pinned: [409, 'The backup point is pinned'],
  point_unreadable: [409, 'The backup point cannot be read'],
  tag_immutable: [409, 'The tag is immutable'],
  cursor_lost: [409, 'The cursor has lost its place'],
  policy_disabled: [409, 'The policy is disabled'],
  policy_exceeded: [409, 'That is more than the policy allows'],
  precondition_failed: [412, 'It is not as expected'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The media type is not supported'],
  range_not_satisfiable: [416, 'The range lies outside the file'],
  checksum_mismatch: [422, 'The checksum differs'],
  size_mismatch: [422, 'The size differs'],
  upstream_unusable: [424, 'The upstream registry cannot be used for this'],
  rate_limited: [429, 'Too many requests'],
  internal: [500, 'Something went wrong on our side'],
  not_implemented: [501, 'That is not supported'],
  busy: [503, 'Busy'],
  download_queued: [503, 'The download waits for its turn'],
  unavailable: [503, 'Unavailable'],
  draining: [503, 'Shutting down'],
  upstream_unavailable: [503, 'The upstream registry is away'],
  storage_quota: [507, 'The storage quota is used up'],
  insufficient_space: [507, 'The disk is nearly full'],
  queue_full: [507, 'Too many jobs are open'],
  upload_limit: [507, 'Too many uploads are under way'],
  token_limit: [507, 'The token limit is reached'],
  account_limit: [507, 'The account limit is reached'],
  service_account_limit: [507, 'The limit of service accounts is reached'],
  key_limit: [507, 'The key limit is reached'],
  reference_limit: [507, 'The reference limit is reached'],
  lock_limit: [507, 'The lock limit is reached'],
  delegation_limit: [507, 'The delegation limit is reached'],
  group_limit: [507, 'The group limit is reached'],
  membership_limit: [507, 'The membership limit is reached'],
  grant_limit: [507, 'The grant limit is reached'],
} as const satisfies Record<string, readonly [status: number, title: string]>

/** Reason code of a failure, as it stands in the `code` field of the answer. */
export type FailureCode = keyof typeof failures

/** One invalid field: where (JSON Pointer into the body, or `/query/name`, `/path/name`, `/headers/name`) and why. */
export interface FailureDetail {
  readonly pointer: string
  readonly message: string
}

export interface FailureExtras {
  readonly details?: readonly FailureDetail[]
  /** Whole seconds after which trying again makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Further headers that the answer needs, such as `Content-Range` of a 416. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * What only the operator is told, in the log: the reason in few words, and whom or what it is about. Never a secret.
   */
  readonly forOperator?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** Retry-After where the thrower gives none: 429 and 503 always carry one. */
const retryAfterDefaultSeconds = 1

/** A refusal on purpose. `detail` is one sentence that says what was wrong, where, and what to do. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly details: readonly FailureDetail[]
  readonly retryAfterSeconds: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly forOperator: Readonly<Record<string, string>>

  constructor(code: FailureCode, detail: string, extras: FailureExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.code = code
    this.details = extras.details ?? []
    this.headers = extras.headers ?? {}
    this.forOperator = extras.forOperator ?? {}
    const waits = this.status === 429 || this.status === 503
    this.retryAfterSeconds = extras.retryAfterSeconds ?? (waits ? retryAfterDefaultSeconds : undefined)
  }

  get status(): number {
    return failures[this.code][0]
  }

  get title(): string {
    return failures[this.code][1]
  }
}

/** A 400 for one field. */
export const invalid = (pointer: string, message: string): Failure =>
  new Failure('invalid_request', `${pointer}: ${message}`, { details: [{ pointer, message }] })

/** The one answer for what is missing and for what the caller may not see (I8). */
export const notFound = (what: string): Failure =>
  new Failure('not_found', `There is no such ${what} that you may see.`)

export const isFailureCode = (code: unknown): code is FailureCode =>
  typeof code === 'string' && Object.hasOwn(failures, code)
