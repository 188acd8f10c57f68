import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { administrationActions, inOrder, systemActions } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { pageDefault } from '../../../kernel/limits/catalog.ts'
import { delegationsOf } from '../service-accounts/delegations.ts'
import type { Held } from './access.ts'
import { type ExplainDeps, explainAccess } from './explain.ts'
import * as operations from './operations.ts'
import { whoMay } from './who.ts'

export interface AccessHandlerDeps extends ExplainDeps {
  /** All repositories in which the caller may do something, ordered by id. */
  readonly heldRepositories: (caller: Caller) => Promise<Held[]>
}

const everyAccount = { accountId: null, actions: [...administrationActions], ceiling: null }

export const accessHandlers = (deps: AccessHandlerDeps): BoundOperation[] => {
  const { database, heldRepositories } = deps
  return [
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

    handle(operations.explainAccess, async ({ query }) => ({ status: 200, json: await explainAccess(deps, query) })),
    handle(operations.listWhoMay, async ({ query }) => ({
      status: 200,
      json: await whoMay(deps, { ...query, limit: query.limit ?? pageDefault }),
    })),
  ]
}
