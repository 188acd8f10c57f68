import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import { administrationActions, inOrder, systemActions } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { delegationsOf } from '../service-accounts/delegations.ts'
import type { Held } from './access.ts'
import * as operations from './operations.ts'

export interface AccessHandlerParts {
  readonly database: Database
  /** All repositories in which the caller may do something, ordered by id. */
  readonly heldRepositories: (caller: Caller) => Promise<Held[]>
}

const everyAccount = { accountId: null, actions: [...administrationActions], ceiling: null }

export const accessHandlers = ({ database, heldRepositories }: AccessHandlerParts): BoundOperation[] => [
  handle(operations.getPermissions, async ({ caller }) => ({
    status: 200,
    json: {
      repositories: (await heldRepositories(caller)).map(({ repository, actions }) => ({
        repository,
        actions: inOrder(actions),
      })),
      administration:
        caller.kind === 'service-key'
          ? await delegationsOf(database.reader, caller.keyId)
          : caller.kind === 'file-key' && caller.serviceAdministrator
            ? [everyAccount]
            : [],
      system: caller.administrator ? [...systemActions] : [],
    },
  })),
]
