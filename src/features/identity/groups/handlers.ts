import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { doerOf } from '../../../journal/doer.ts'
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
import * as operations from './operations.ts'

const done = { status: 204, json: null } as const

export const groupHandlers = (parts: GroupParts): BoundOperation[] => [
  handle(operations.listAccessGroups, async () => ({ status: 200, json: { items: await allGroups(parts) } })),
  handle(operations.createAccessGroup, async (input) => ({
    status: 201,
    json: await createGroup(parts, input.body.name, doerOf(input)),
  })),
  handle(operations.getAccessGroup, async ({ path }) => ({ status: 200, json: await groupById(parts, path.id) })),
  handle(operations.deleteAccessGroup, async (input) => {
    await deleteGroup(parts, input.path.id, doerOf(input))
    return done
  }),
  handle(operations.addAccessGroupMember, async (input) => {
    await addMember(parts, input.path.id, input.path.userId, doerOf(input))
    return done
  }),
  handle(operations.removeAccessGroupMember, async (input) => {
    await removeMember(parts, input.path.id, input.path.userId, doerOf(input))
    return done
  }),
  handle(operations.setAccessGroupGrant, async (input) => {
    await setGrant(parts, input.path.id, input.path.repository, input.body.access, doerOf(input))
    return done
  }),
  handle(operations.removeAccessGroupGrant, async (input) => {
    await removeGrant(parts, input.path.id, input.path.repository, doerOf(input))
    return done
  }),
]
