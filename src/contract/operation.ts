import type { Static, TObject, TSchema } from 'typebox'
import type { Action, AdministrationAction, RepositoryAction, SystemAction } from '../kernel/actions.ts'
import type { FailureCode } from '../kernel/failure.ts'

/**
 * An operation as data: the only way to a route. Routes, validation, authentication, authorization, HEAD, 405/413/415,
 * metrics labels, `openapi.json`, the operations list and the reference pages are all made from this one value.
 */
export interface Operation<
  Path extends TObject = TObject,
  Query extends TObject = TObject,
  Headers extends TObject = TObject,
  Body extends BodyKind = BodyKind,
  Responses extends ResponseTable = ResponseTable,
  Rule extends AccessRule = AccessRule,
> {
  /** The grep key: declaration, handler, rule, metric label and documentation anchor bear it. */
  readonly id: string
  readonly method: Method
  /**
   * Template with `{name}` for a segment, `{name+}` for one or more of them wherever they stand, and `{name*}` for the
   * rest of the path, which may be empty. Of the last two it has one at most.
   */
  readonly path: string
  readonly summary: string
  readonly surface: Surface
  readonly visibility: Visibility
  readonly access: Rule
  readonly retry: Retry
  readonly conditions: readonly Condition[]
  readonly pathParameters: Path
  readonly query: Query
  readonly headers: Headers
  readonly body: Body
  readonly responses: Responses
  /** Reason codes beside those that access, body and validation bring. */
  readonly failures: readonly FailureCode[]
  /** True where stored bytes are sent: all download rules apply, and answers are made by `content/serve.ts`. */
  readonly download: boolean
  /**
   * True where a download link in the query parameter `token` may stand instead of a credential in the header. The path
   * names what the link is bound to: `repository` and `id`.
   */
  readonly linkable: boolean
  /**
   * Passes for it are made for what they are to do and to what: a way, and these parameters of the path. Null where it
   * takes those that are good at the whole wire.
   */
  readonly passFor: PassedWay | null
  /** A read token may call it although it is no GET. */
  readonly openToReadTokens: boolean
  /** A read gateway serves it although it is no GET: it writes no row there. */
  readonly openOnReaders: boolean
  /** Health operations answer while the service drains. */
  readonly whileDraining: boolean
}

/** One way to do something to one thing. */
export interface PassedWay {
  readonly way: string
  readonly to: readonly string[]
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export const surfaces = ['discovery', 'identity', 'catalog', 'transfers', 'administration', 'operations'] as const
export type Surface = (typeof surfaces)[number]

export const surfaceMeanings: Readonly<Record<Surface, string>> = {
  discovery: 'Health, and what the service can do',
  identity: 'Accounts, groups, keys and sessions',
  catalog: 'What is stored, and what is said of it',
  transfers: 'Bytes on their way in and out',
  administration: 'What administrators and keys look after',
  operations: 'What operators watch and steer: space, policies, open uploads, jobs',
}

export const visibilities = [
  'public',
  'authenticated',
  'self',
  'repository',
  'owned-resource',
  'delegated',
  'bootstrap',
  'administrator',
] as const
type Visibility = (typeof visibilities)[number]

export const retries = [
  'read',
  'never-automatic',
  'idempotent',
  'idempotency-key',
  'compare-and-swap',
  'reconcile-upload',
  'reconcile-job',
] as const
type Retry = (typeof retries)[number]

export const conditions = [
  'resource-state',
  'upload-owner',
  'job-owner',
  'reference-owner',
  'delegation-target-and-ceiling',
  'own-key',
] as const
type Condition = (typeof conditions)[number]

/** Who may call. What is not said here is refused. */
export type AccessRule =
  | { readonly kind: 'anyone'; readonly reason: string }
  /** `itself`: by the credential and not by a pass that stands for it. */
  | { readonly kind: 'credential'; readonly itself?: true }
  | { readonly kind: 'session' }
  | { readonly kind: 'administrator' }
  /** The recovery key, or a key of the keys file that may do with service accounts what it may. */
  | { readonly kind: 'service-administrator' }
  /** The calling service key itself, also before its activation. */
  | { readonly kind: 'own-key' }
  /** All actions on the repository that the path names, and on a second one where the request names it. */
  | {
      readonly kind: 'repository'
      readonly actions: readonly RepositoryAction[]
      /**
       * Beside them, one of these at least: which of them it takes depends on the input, and the handler asks for that
       * one.
       */
      readonly oneOf?: readonly RepositoryAction[]
      readonly also?: SecondRepository
    }
  /** A list that shows only what its actions allow to see: empty for who holds nothing. */
  | { readonly kind: 'visible'; readonly actions: readonly Action[] }
  /** An action on the service account that the path's `id` names, itself or by one of its keys. */
  | {
      readonly kind: 'administration'
      readonly action: AdministrationAction
      readonly of: 'service-account' | 'service-key'
    }
  /** An action in the repository of the job that the path's `id` names, for who asked for the job. */
  | { readonly kind: 'own-job'; readonly action: RepositoryAction }
  | { readonly kind: 'system'; readonly action: SystemAction }

/** Another repository than that of the path. It is asked about when the input is valid, and where it stands at all. */
export interface SecondRepository {
  /**
   * Where it stands, as failures point at it: `/target` of a JSON body, `/query/from`, `/headers/from`. Of a text with
   * slashes, which names something in a repository, the first segment counts.
   */
  readonly at: string
  readonly actions: readonly RepositoryAction[]
  /**
   * By default who may not is refused, as for the first. Where it is `told`, the handler goes another way:
   * `Input.mayAlso`.
   */
  readonly refusal?: 'told'
}

export type BodyKind =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly schema: TSchema; readonly maxBytes: number }
  /** `mediaTypes` null takes any, also none. The size is the handler's business: it knows what was declared. */
  | { readonly kind: 'stream'; readonly mediaTypes: readonly string[] | null }
  /** Small, and whole before its handler is called, byte by byte as it was sent. `mediaTypes` as above. */
  | { readonly kind: 'bytes'; readonly mediaTypes: readonly string[] | null; readonly maxBytes: number }

/** A body of the kind `bytes`. */
export interface SentBytes {
  /** As the header says it, with its parameters; empty where it says nothing. */
  readonly mediaType: string
  readonly bytes: Uint8Array
}

export interface ResponseKind {
  readonly description: string
  /** Null: no body, or (with `mediaType`) a body that is not JSON. */
  readonly schema: TSchema | null
  readonly mediaType?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type ResponseTable = Readonly<Record<number, ResponseKind>>

export type BodyOf<B extends BodyKind> = B extends { kind: 'json'; schema: infer S extends TSchema }
  ? Static<S>
  : B extends { kind: 'bytes' }
    ? SentBytes
    : undefined

/** Actions that the caller must hold, here or on a second repository, for the operations list. */
export const listedActions = ({ access }: Operation): Action[] => [
  ...new Set([...requiredActions(access), ...alternatives(access), ...(secondOf(access)?.actions ?? [])]),
]

/** Actions of which the caller must hold one, by what the request turns out to ask. */
const alternatives = (access: AccessRule): readonly RepositoryAction[] =>
  access.kind === 'repository' ? (access.oneOf ?? []) : []

/** The second repository that a rule asks about. */
export const secondOf = (access: AccessRule): SecondRepository | null =>
  access.kind === 'repository' ? (access.also ?? null) : null

/** Actions that the caller must hold on what the path names. */
export const requiredActions = (access: AccessRule): readonly Action[] => {
  switch (access.kind) {
    case 'repository':
    case 'visible':
      return access.actions
    case 'administration':
    case 'own-job':
    case 'system':
      return [access.action]
    default:
      return []
  }
}

/** True for what a read token is refused. */
export const changes = (operation: Operation): boolean =>
  !reads(operation) && !operation.openToReadTokens && operation.access.kind !== 'anyone'

/** True for GET: safe, cacheable, also served as HEAD. */
export const reads = (operation: Operation): boolean => operation.method === 'GET'

/** Whether a read gateway serves it. */
export const isOnReaders = (operation: Operation): boolean => reads(operation) || operation.openOnReaders

/** Whether a JSON body may be left out, since none of its fields has to be there. */
export const needsNothing = ({ body }: Operation): boolean => {
  if (body.kind !== 'json') return false
  const { type, required = [] }: Record<string, unknown> = { ...body.schema }
  return type === 'object' && Array.isArray(required) && required.length === 0
}

/** What a pass says that it is for: one way, and one thing as the path names it. */
export const passSubject = ({ way }: PassedWay, named: readonly string[]): string => JSON.stringify([way, ...named])

/** What a pass has to be for that is shown to an operation; null where it is for the whole wire. */
export const neededPass = ({ passFor }: Operation, parameters: Readonly<Record<string, string>>): string | null =>
  passFor === null
    ? null
    : passSubject(
        passFor,
        passFor.to.map((name) => parameters[name] ?? ''),
      )

/** The path as people and documents see it. */
export const shownPath = ({ path }: Operation): string => path.replace(/[*+]\}/, '}')
