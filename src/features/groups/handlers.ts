import { type BoundOperation, handle, type RequestFacts } from '../../contract/handler.ts'
import type { Doer } from '../../journal/security-audit.ts'
import { actorOf, type Caller } from '../../kernel/caller.ts'
import {
  addMember,
  allGroups,
  createGroup,
  deleteGroup,
  type GroupParts,
  groupById,
  removeGrant,
  removeMember,
  setGrant,
} from './groups.ts'
import {
  addAccessGroupMember,
  createAccessGroup,
  deleteAccessGroup,
  getAccessGroup,
  listAccessGroups,
  removeAccessGroupGrant,
  removeAccessGroupMember,
  setAccessGroupGrant,
} from './operations.ts'

const doer = ({ caller, request }: { caller: Caller; request: RequestFacts }): Doer => ({
  actor: actorOf(caller),
  clientAddress: request.clientAddress,
})

const done = { status: 204, json: null } as const

export const groupHandlers = (parts: GroupParts): BoundOperation[] => [
  handle(listAccessGroups, async () => ({ status: 200, json: { items: await allGroups(parts) } })),
  handle(createAccessGroup, async (input) => ({
    status: 201,
    json: await createGroup(parts, input.body.name, doer(input)),
  })),
  handle(getAccessGroup, async ({ path }) => ({ status: 200, json: await groupById(parts, path.id) })),
  handle(deleteAccessGroup, async (input) => {
    await deleteGroup(parts, input.path.id, doer(input))
    return done
  }),
  handle(addAccessGroupMember, async (input) => {
    await addMember(parts, input.path.id, input.path.userId, doer(input))
    return done
  }),
  handle(removeAccessGroupMember, async (input) => {
    await removeMember(parts, input.path.id, input.path.userId, doer(input))
    return done
  }),
  handle(setAccessGroupGrant, async (input) => {
    await setGrant(parts, input.path.id, input.path.repository, input.body.access, doer(input))
    return done
  }),
  handle(removeAccessGroupGrant, async (input) => {
    await removeGrant(parts, input.path.id, input.path.repository, doer(input))
    return done
  }),
]
