import { type BoundOperation, handle } from '../../../contract/handler.ts'
import type { Database } from '../../../database/database.ts'
import type { RepositoryAction } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { nameOf } from '../accounts/names.ts'
import { sentFields } from '../accounts/sent.ts'
import * as operations from './operations.ts'
import { refuseOtherAccess, requirePackage } from './visibility.ts'

interface VisibilityDeps {
  readonly database: Database
  readonly heldActions: (caller: Caller, repository: string) => Promise<ReadonlySet<RepositoryAction>>
}

export const npmVisibilityHandlers = ({ database, heldActions }: VisibilityDeps): BoundOperation[] => {
  const { reader } = database
  return [
    handle(operations.getNpmVisibility, async ({ path }) => {
      await requirePackage(reader, path.repository, path.package)
      return { status: 200, json: { public: false } }
    }),
    handle(operations.listNpmCollaborators, async ({ path, caller }) => {
      await requirePackage(reader, path.repository, path.package)
      const writes = (await heldActions(caller, path.repository)).has('asset.write')
      return { status: 200, json: { [await nameOf(reader, caller)]: writes ? 'read-write' : 'read-only' } }
    }),
    handle(operations.setNpmAccess, async ({ path, body }) => {
      await requirePackage(reader, path.repository, path.package)
      refuseOtherAccess(sentFields(body.bytes))
      return { status: 200, json: { ok: true } }
    }),
  ]
}
