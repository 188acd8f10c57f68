import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { operationItem, servedOperations } from '../../../contract/listing.ts'
import { openApiDocument } from '../../../contract/openapi.ts'
import { changes, type Operation, type Surface } from '../../../contract/operation.ts'
import type { AdministrationAction, RepositoryAction } from '../../../kernel/actions.ts'
import { type Caller, readsOnly } from '../../../kernel/caller.ts'
import { notFound } from '../../../kernel/failure.ts'
import { pageDefault, pageMax } from '../../../kernel/limits/catalog.ts'
import { partBytesMax, partBytesMin, partsMax } from '../../../kernel/limits/transfers.ts'
import { refusal } from '../../identity/access/access.ts'
import * as operations from './operations.ts'

export interface DiscoveryHandlerDeps {
  readonly operations: readonly Operation[]
  readonly role: 'api' | 'reader'
  /** MAJOR.MINOR.PATCH of the API document, which is that of the program. */
  readonly version: string
  /** The address that clients know the service by; null: as each of them says. */
  readonly baseUrl: string | null
  readonly maxObjectBytes: number
  readonly selfRegistration: () => Promise<boolean>
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
  /** What the caller may do with some service account. */
  readonly administrationActions: (caller: Caller) => Promise<ReadonlySet<AdministrationAction>>
}

const nothingHeld: ReadonlySet<RepositoryAction> = new Set()

export const discoveryHandlers = (deps: DiscoveryHandlerDeps): BoundOperation[] => {
  const served = (surface: Surface | undefined): Operation[] =>
    servedOperations(deps.operations, deps.role === 'reader').filter(
      (operation) => surface === undefined || operation.surface === surface,
    )
  /** The document is the same for every caller: it is written once for each surface and sent as text. */
  const documents = new Map<Surface | 'all', string>()
  const document = (surface: Surface | undefined): string => {
    const key = surface ?? 'all'
    const known = documents.get(key)
    if (known !== undefined) return known
    const text = JSON.stringify(openApiDocument(served(surface), deps.version, deps.baseUrl ?? '/'))
    documents.set(key, text)
    return text
  }
  return [
    handle(operations.getCapabilities, async () => ({
      status: 200,
      json: {
        apiVersions: ['v1'],
        gatewayRole: deps.role,
        features: { selfRegistration: await deps.selfRegistration(), mirrorFeed: true },
        limits: {
          maxObjectBytes: String(deps.maxObjectBytes),
          partBytes: partBytesMin,
          maxPartBytes: partBytesMax,
          maxParts: partsMax,
          maxPageSize: pageMax,
        },
      },
    })),
    handle(operations.getOpenApi, async ({ query }) => ({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      text: document(query.surface),
    })),
    handle(operations.listOperations, async ({ caller, query }) => {
      const { repository, surface, after = '', limit = pageDefault } = query
      const held = repository === undefined ? nothingHeld : await deps.heldActions(caller, repository)
      if (repository !== undefined && !held.has('repository.read')) throw notFound('repository')
      const administered = repository === undefined ? null : await deps.administrationActions(caller)
      const mayCall = (operation: Operation): boolean =>
        refusal(caller, operation.access, held) === null &&
        !(readsOnly(caller) && changes(operation)) &&
        (operation.access.kind !== 'administration' || administered?.has(operation.access.action) === true)
      const open = served(surface).filter((operation) => repository === undefined || mayCall(operation))
      const rest = open.filter((operation) => operation.id > after)
      const items = rest.slice(0, limit).map(operationItem)
      return {
        status: 200,
        json: {
          apiVersion: 'v1',
          documentVersion: deps.version,
          gatewayRole: deps.role,
          repository: repository ?? null,
          advisory: true,
          items,
          next: rest.length > limit ? (items.at(-1)?.operationId ?? null) : null,
        },
      }
    }),
  ]
}
